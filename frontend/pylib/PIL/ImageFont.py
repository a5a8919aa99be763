"""`PIL.ImageFont`: fonts for drawing into images, of which there are none."""

from PIL import refuse

load = load_default = truetype = refuse
