from .reading import (
    Domain as Domain,
    load_domain as load_domain,
    write_rules as write_rules,
)
