import time, sys
sys.path.insert(0,'/work/main')
from tests.store.watched import *
from tests.store.test_target_leases import *
import cProfile, pstats
def test_prof(database):
    make_targets(database, 10_000, sources=10, due=clock.now())
    database.do("CREATE TABLE work_done (target_id bigint, worker text)")
    t=time.time(); database.call(target_queue.schedule, clock.now()); print("schedule", time.time()-t)
    lease_t=rec_t=commit_t=0
    engine=database.engine
    with engine.connect() as c:
        while True:
            t=time.time()
            with c.begin():
                target_queue.return_expired(c, clock.now())
                leased=target_leases.lease(c,"w",clock.now(),seconds=60,most=50)
            lease_t+=time.time()-t
            if not leased: break
            for b in range(0,50,10):
                t=time.time()
                with c.begin():
                    for x in leased[b:b+10]: 
                        target_leases.record(c,x.id,"w",TargetOutcome.SUCCESS,None,clock.now())
                    rec_t+=time.time()-t; t=time.time()
                commit_t+=time.time()-t
    print("lease",lease_t,"record",rec_t,"commit",commit_t)
