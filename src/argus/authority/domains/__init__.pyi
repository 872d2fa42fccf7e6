from .reading import Domain as Domain
from .load import (
    builtin_domains as builtin_domains,
    load_domain as load_domain,
    write_rules as write_rules,
)
