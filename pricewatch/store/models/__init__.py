"""All tables, one module per subject. Every status and reason is a constraint of the database."""

from pricewatch.store.models.base import Base
from pricewatch.store.models.listings import (
    Listing,
    ListingIdentifier,
    ListingKeys,
    MarketListing,
    PriceHistory,
    Product,
    Seller,
    SellerHistory,
)
from pricewatch.store.models.operations import (
    AdapterBatch,
    AdapterStatus,
    Alert,
    ProxyBlock,
    RateLimit,
    RobotsCache,
    WatchRule,
)
from pricewatch.store.models.people import (
    Audit,
    Figure,
    LoginFailure,
    Message,
    RunFigure,
    WatchState,
    WebSession,
)
from pricewatch.store.models.runs import CollectedCard, Run, RunPage, VerificationAttempt
from pricewatch.store.models.scheduling import Dispatcher, Egg, Job, Node
from pricewatch.store.models.sources import Market, Retailer, Source
from pricewatch.store.models.targets import Quarantined, QuarantinePage, Target, TargetQueue

__all__ = [
    "AdapterBatch",
    "AdapterStatus",
    "Alert",
    "Audit",
    "Base",
    "CollectedCard",
    "Dispatcher",
    "Egg",
    "Figure",
    "Job",
    "Listing",
    "ListingIdentifier",
    "ListingKeys",
    "LoginFailure",
    "Market",
    "MarketListing",
    "Message",
    "Node",
    "PriceHistory",
    "Product",
    "ProxyBlock",
    "QuarantinePage",
    "Quarantined",
    "RateLimit",
    "Retailer",
    "RobotsCache",
    "Run",
    "RunFigure",
    "RunPage",
    "Seller",
    "SellerHistory",
    "Source",
    "Target",
    "TargetQueue",
    "VerificationAttempt",
    "WatchRule",
    "WatchState",
    "WebSession",
]
