"""The tables, one module per subject, and their check constraints. Queries are in the other packages."""

from pricewatch.store.models.listing_tables import (
    Listing,
    ListingIdentifier,
    ListingKeys,
    MarketListing,
    PriceHistory,
    Product,
    Seller,
    SellerHistory,
)
from pricewatch.store.models.operation_tables import (
    AdapterBatch,
    AdapterStatus,
    Alert,
    MetricTotal,
    ProxyBlock,
    RateLimit,
    RobotsCache,
    RunMetric,
)
from pricewatch.store.models.people_tables import (
    AccessToken,
    Audit,
    LoginFailure,
    Message,
    Person,
    WatchRule,
    WatchState,
    WebSession,
)
from pricewatch.store.models.run_tables import CollectedCard, Run, RunPage, VerificationAttempt
from pricewatch.store.models.scheduling_tables import DispatcherRow, Egg, Job, Node
from pricewatch.store.models.source_tables import Market, Retailer, Source
from pricewatch.store.models.table_base import Base
from pricewatch.store.models.target_tables import (
    Quarantined,
    QuarantinePage,
    StrictReview,
    Target,
    TargetQueue,
)

__all__ = [
    "AccessToken",
    "AdapterBatch",
    "AdapterStatus",
    "Alert",
    "Audit",
    "Base",
    "CollectedCard",
    "DispatcherRow",
    "Egg",
    "Job",
    "Listing",
    "ListingIdentifier",
    "ListingKeys",
    "LoginFailure",
    "Market",
    "MarketListing",
    "Message",
    "MetricTotal",
    "Node",
    "Person",
    "PriceHistory",
    "Product",
    "ProxyBlock",
    "QuarantinePage",
    "Quarantined",
    "RateLimit",
    "Retailer",
    "RobotsCache",
    "Run",
    "RunMetric",
    "RunPage",
    "Seller",
    "SellerHistory",
    "Source",
    "StrictReview",
    "Target",
    "TargetQueue",
    "VerificationAttempt",
    "WatchRule",
    "WatchState",
    "WebSession",
]
