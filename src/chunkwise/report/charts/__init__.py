"""Charts of the pages: said in Vega-Lite, drawn into the page as SVG."""
