"""From a situation to the laws of the released answer, as recipes of the kernel."""
