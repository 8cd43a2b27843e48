"""Injection: Python objects get what their constructors need, and values are bound in layers.

    >>> from nodeattrs.inject import Bindings, Injector
    >>> class Mailer: ...
    >>> app = Bindings("app")
    >>> _ = app.bind(Mailer).to_class(Mailer)
    >>> type(Injector([[app]]).inject(Mailer)).__name__
    'Mailer'

`nodeattrs.bindings` has these names and those of the files: data form, text language, sites.
"""

from typing import TYPE_CHECKING

from nodeattrs._lazy import imported

if TYPE_CHECKING:
    from nodeattrs.bindings import (
        BindingError,
        BindingErrors,
        Bindings,
        BindingSet,
        Classes,
        Composition,
        Explanation,
        Injector,
        Layer,
        LookupLoop,
        NotBound,
        Objects,
        Producer,
        State,
        TypeMismatch,
        fill_parameters,
        named,
    )

__all__ = [
    "BindingError",
    "BindingErrors",
    "BindingSet",
    "Bindings",
    "Classes",
    "Composition",
    "Explanation",
    "Injector",
    "Layer",
    "LookupLoop",
    "NotBound",
    "Objects",
    "Producer",
    "State",
    "TypeMismatch",
    "fill_parameters",
    "named",
]

__getattr__ = imported(__name__, dict.fromkeys(__all__, "bindings"), below="nodeattrs")
