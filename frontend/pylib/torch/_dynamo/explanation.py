"""What `torch._dynamo.explain` answers."""


class GraphCompileReason:
    """Why a graph ended: `reason`, and the innermost line of `user_stack`."""

    def __init__(self, reason, user_stack, graph_break=True):
        self.reason = reason
        self.user_stack = user_stack
        self.graph_break = graph_break

    def __repr__(self):
        return f"GraphCompileReason(reason={self.reason!r}, user_stack={self.user_stack!r}, graph_break={self.graph_break!r})"


class ExplainOutput:
    """The graphs of a call, the breaks between them, and the guards; `str` of it is a report."""

    def __init__(self, graphs, break_reasons, out_guards=(), compile_times=None):
        self.graphs = graphs
        self.graph_count = len(graphs)
        self.graph_break_count = max(len(graphs) - 1, 0)
        self.break_reasons = break_reasons
        self.ops_per_graph = [
            [node.target for node in graph.graph.nodes if node.op.startswith("call")] for graph in graphs
        ]
        self.op_count = sum(len(ops) for ops in self.ops_per_graph)
        self.out_guards = out_guards
        self.compile_times = compile_times

    def __str__(self):
        lines = [
            f"Graph Count: {self.graph_count}",
            f"Graph Break Count: {self.graph_break_count}",
            f"Op Count: {self.op_count}",
            "Break Reasons:",
        ]
        for number, reason in enumerate(self.break_reasons, 1):
            lines.append(f"  Break Reason {number}:")
            lines.append(f"    Reason: {reason.reason}")
            lines.append("    User Stack:")
            for frame in reason.user_stack:
                lines.append(f"      {frame}")
        lines.append("Ops per Graph:")
        for number, ops in enumerate(self.ops_per_graph, 1):
            lines.append(f"  Ops {number}:")
            for op in ops:
                lines.append(f"    {op}")
        lines.append("Out Guards:")
        for number, guard in enumerate(self.out_guards, 1):
            lines.append(f"  Guard {number}:")
            lines.append(f"    {guard}")
        return "\n".join(lines) + "\n"
