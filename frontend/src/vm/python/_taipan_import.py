"""Finds and loads modules: the engine's own Python, then source files in the folders of `sys.path`.

Every look at the disk goes through `host`, which asks the engine's policy. This file carries the name of
the standard importer, so that its frames are left out of tracebacks like those.
"""

import _imp
from _frozen_importlib import ModuleSpec, _call_with_frames_removed
from _taipan import host
import sys


class _Loader:
    """Common part of the loaders: one instance per module."""

    def __init__(self, name, path, package):
        self.name = name
        self.path = path
        self._package = package

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        module.__file__ = self.path
        _call_with_frames_removed(exec, host.prepared(self.get_code(self.name)), module.__dict__)

    def get_filename(self, name=None):
        return self.path

    def is_package(self, name=None):
        return self._package


class EngineLoader(_Loader):
    """Loads a module that is part of the engine: code from the binary, text at hand."""

    def get_code(self, name=None):
        return _imp.get_frozen_object(self.name)

    def get_source(self, name=None):
        return host.engine_source(self.name)[1]


class SourceLoader(_Loader):
    """Loads a Python file."""

    def get_code(self, name=None):
        return compile(self.get_source(), self.path, "exec", dont_inherit=True)

    def get_source(self, name=None):
        return host.read_source(self.path)


class TextLoader(_Loader):
    """Stands for a script that the program handed over as text."""

    def __init__(self, name, path, text):
        super().__init__(name, path, False)
        self._text = text

    def get_code(self, name=None):
        return compile(self._text, self.path, "exec", dont_inherit=True)

    def get_source(self, name=None):
        return self._text


class NamespaceLoader:
    """Loads a folder without `__init__.py`: nothing to run."""

    def create_module(self, spec):
        return None

    def exec_module(self, module):
        module.__file__ = None

    def get_source(self, name=None):
        return ""

    def is_package(self, name=None):
        return True


class EngineFinder:
    """Finds the modules of the engine."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        found = host.engine_module(name)
        if found is None:
            return None
        file, package = found
        spec = ModuleSpec(name, EngineLoader(name, file, package), origin=file, is_package=package)
        if package:
            spec.submodule_search_locations.append(file.rpartition("/")[0])
        return spec

    @staticmethod
    def find_distributions(context=None):
        """The packages that are part of the engine, for programs that ask which version is installed."""
        from _taipan_packages import distributions

        return distributions(context)


class SourceFinder:
    """Finds Python files and packages in the folders of `sys.path`, or of a package's `__path__`."""

    @staticmethod
    def find_spec(name, path=None, target=None):
        tail = name.rpartition(".")[2]
        namespace = []
        for folder in sys.path if path is None else path:
            if not isinstance(folder, str):
                continue
            found = host.find_module(folder, tail)
            if found is None:
                continue
            file, kind = found
            if kind == "namespace":
                namespace.append(file)
                continue
            package = kind == "package"
            spec = ModuleSpec(name, SourceLoader(name, file, package), origin=file, is_package=package)
            if package:
                spec.submodule_search_locations.append(host.parent(file))
            return spec
        if not namespace:
            return None
        spec = ModuleSpec(name, NamespaceLoader(), is_package=True)
        spec.submodule_search_locations.extend(namespace)
        return spec

    @staticmethod
    def find_distributions(*args, **kwargs):
        """What is installed in the folders of `sys.path`."""
        from importlib.metadata import MetadataPathFinder

        return MetadataPathFinder.find_distributions(*args, **kwargs)


sys.meta_path.insert(0, EngineFinder)
sys.meta_path.append(SourceFinder)
