"""Datasets as another program might have left them: other types, dimensions, values, attributes."""

import netCDF4
import numpy as np

CDF5 = "NETCDF3_64BIT_DATA"


class Content:
    def __init__(self, path):
        with netCDF4.Dataset(path) as file:
            file.set_auto_maskandscale(False)
            file.set_auto_chartostring(False)
            self.attributes = dict(file.__dict__)
            self.dimensions = {name: len(dimension) for name, dimension in file.dimensions.items()}
            self.variables = {name: Variable(variable) for name, variable in file.variables.items()}

    def __getitem__(self, name):
        return self.variables[name]

    def write(self, path, kind=CDF5, **options):
        """Repeats or cuts values that do not fit a dimension's length. `options`: storage of all variables."""
        with netCDF4.Dataset(path, "w", format=kind) as file:
            file.set_auto_maskandscale(False)
            file.setncatts(self.attributes)
            for name, length in self.dimensions.items():
                file.createDimension(name, length)
            for name, variable in self.variables.items():
                variable.write(file, name, [self.dimensions[one] for one in variable.dimensions], options)
        path.write_bytes(path.read_bytes().replace(FILL.swapcase().encode(), FILL.encode()))
        return path


FILL = "_FillValue"


class Variable:
    def __init__(self, variable):
        self.type = variable.dtype
        self.dimensions = list(variable.dimensions)
        self.attributes = dict(variable.__dict__)
        self.values = variable[...]

    def write(self, file, name, shape, options):
        attributes = dict(self.attributes)
        fill = attributes.pop(FILL, None)
        if fill is not None and (np.ndim(fill) or isinstance(fill, str) or np.dtype(self.type).kind == "S"):
            attributes[FILL.swapcase()], fill = fill, None  # which the library would refuse
        with np.errstate(all="ignore"):
            fill = None if fill is None else np.asarray(fill).astype(self.type)
            made = file.createVariable(name, self.type, self.dimensions, fill_value=fill, **options)
            made.set_auto_maskandscale(False)
            made.set_auto_chartostring(False)
            made.setncatts(attributes)
            made[...] = np.resize(cast(self.values, np.dtype(self.type)), shape)


def cast(values, kind):
    if (values.dtype.kind == "S") != (kind.kind == "S"):
        return np.full(values.shape, b"x" if kind.kind == "S" else 1, kind)
    return values.astype(kind)
