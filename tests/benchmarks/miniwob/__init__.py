"""MiniWoB++, 130 small web tasks with a reward of their own, through our page tools."""
