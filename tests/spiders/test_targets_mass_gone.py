"""The mass-gone guard of the targets spider: most pages of a source missing at once."""

from __future__ import annotations

from tests.spiders.target_runs import fetch, known, readable, watch


def test_mass_gone_raises_an_alert_instead_of_strikes(world):
    """Another source in the same run is not affected."""
    trues = readable(world, 26)
    ids = watch(world, trues)
    world.database.do(
        "INSERT INTO sources (id, name, adapter_id, domain, base_url, tos_approved_by, requests_per_second,"
        " min_delay_ms, max_concurrent) VALUES ('other', 'other', 'bazaar', '127.0.0.1', 'http://other.test',"
        " 'a test', 1000, 0, 16)"
    )
    world.database.do("UPDATE targets SET source_id = 'other' WHERE id = :id", id=ids[-1])
    fetch(world)
    world.bazaar.fault("status", path="^/item/", status=404)
    quiet = {"RETRY_ENABLED": False}
    for runs in (1, 2):
        world.database.do("UPDATE targets SET next_due_at = :now", now=world.bazaar.now())
        world.database.do("UPDATE adapter_status SET enabled = true")
        run = fetch(world, settings=quiet)
        assert run["counters"]["urls_attempted"] == 26
        assert run["reasons"]["targets/mass_gone"] == 1
        struck = "SELECT count(*) FROM listings WHERE source_id = :id AND (strikes > 0 OR NOT active)"
        assert world.database.value(struck, id="bazaar") == 0
        assert world.database.value(struck, id="other") == 1
        alert = world.database.row("SELECT * FROM alerts WHERE kind = 'mass_gone'")
        assert (alert.subject, alert.count, alert.resolved_at) == ("bazaar", runs, None)
    assert "25 of 25" in alert.message
    # The evidence is stored all the same.
    assert world.database.value("SELECT count(*) FROM verification_attempts WHERE NOT strike") == 50
    assert not world.database.value("SELECT active FROM listings WHERE source_id = 'other'")
    assert world.database.value("SELECT count(*) FROM alerts WHERE kind = 'mass_gone'") == 1
    world.bazaar.clear_faults()
    world.database.do("UPDATE adapter_status SET enabled = true")
    fetch(world, ids=ids[0])
    assert world.database.value("SELECT resolved_at FROM alerts WHERE kind = 'mass_gone'") is not None


def test_pages_gone_before_do_not_trigger_the_guard(world):
    """Twenty targets that are gone already do not prevent a strike for a newly missing one."""
    trues, ids = known(world, 22)
    world.database.do(
        "UPDATE listings SET active = false, verification_status = 'gone', strikes = 2"
        " FROM targets t WHERE t.listing_id = listings.id AND t.id = ANY(:ids)",
        ids=ids[:20],
    )
    for true in trues[:21]:
        world.bazaar.change(true.id, end="404")
    fetch(world, ids=",".join(map(str, ids)))
    assert world.listing(trues[20]).strikes == 1
    assert world.database.value("SELECT count(*) FROM alerts WHERE kind = 'mass_gone'") == 0
