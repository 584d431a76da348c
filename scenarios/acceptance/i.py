"""I: the overlap scheduler."""

from scenarios.acceptance.row import Row

ROWS = (
    Row("I01", "Six iterations: GPU 10, schedule 4, process 3", "D", "serial 102, GPU 59 %; overlapped 67, GPU 90 %"),
    Row("I02", "One extra token a request", "D / S", "12.5 % at 8 tokens; 0.3-0.7 % ShareGPT-like"),
    Row("I03", "Gain 1 / (1 - f)", "D", "10 / 25 / 42 %: 1.11 / 1.33 / 1.72; at most 2 x"),
    Row("I04", "Five duties of the CPU", "B", "receive, process, stop check, match and reorder, allocate"),
    Row("I05", "Ways out", "B", "off per load; stop test on the GPU; only certain survivors"),
)
