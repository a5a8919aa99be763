"""`PIL.Image`: the class of images, of which there are none, and the numbers of its settings."""

from enum import IntEnum

from PIL import UnidentifiedImageError, __version__, refuse


class Transpose(IntEnum):
    """Ways to turn an image."""

    FLIP_LEFT_RIGHT = 0
    FLIP_TOP_BOTTOM = 1
    ROTATE_90 = 2
    ROTATE_180 = 3
    ROTATE_270 = 4
    TRANSPOSE = 5
    TRANSVERSE = 6


class Transform(IntEnum):
    """Ways to map an image."""

    AFFINE = 0
    EXTENT = 1
    PERSPECTIVE = 2
    QUAD = 3
    MESH = 4


class Resampling(IntEnum):
    """Ways to read between pixels."""

    NEAREST = 0
    LANCZOS = 1
    BILINEAR = 2
    BICUBIC = 3
    BOX = 4
    HAMMING = 5


for _kind in (Transpose, Transform, Resampling):
    globals().update(_kind.__members__)


class Image:
    """An image: none can be made."""

    def __init__(self, *args, **kwargs):
        refuse()


class DecompressionBombError(Exception):
    """An image is too large."""


MAX_IMAGE_PIXELS = 89478485
alpha_composite = blend = composite = eval = frombuffer = frombytes = fromarray = merge = new = open = refuse
