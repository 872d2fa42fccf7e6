from .spec import open_store as open_store
from .protocol import Store as Store
from .spec import StoreConfig as StoreConfig
