from .reading import (
    Domain as Domain,
    builtin_domains as builtin_domains,
    load_domain as load_domain,
    write_rules as write_rules,
)
