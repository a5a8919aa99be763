"""`PIL.ImageChops`: sums and differences of images, of which there are none."""

from PIL import refuse

add = add_modulo = blend = darker = difference = invert = lighter = multiply = offset = screen = subtract = refuse
subtract_modulo = refuse
