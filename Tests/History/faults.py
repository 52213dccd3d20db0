"""Carries out the faults of a plan against a cluster, lane by lane."""

import signal
import threading
import time

from cluster import OUTSIDE
from check import Loss


class Lane(threading.Thread):
    """The faults of one lane, one after the other; each is undone before the next one."""

    def __init__(self, name, cluster, faults, world, is_lying=False):
        super().__init__(name=name)
        self.cluster, self.world, self.faults = cluster, world, faults
        # A failover that loses a tail and is said to lose nothing: the check must find it.
        self.is_lying = is_lying
        self.is_over, self.done, self.losses, self.error = threading.Event(), [], [], None

    def run(self):
        begun = time.monotonic()
        try:
            for fault in self.faults:
                if self.is_over.wait(max(0, begun + fault.at - time.monotonic())):
                    return
                self.done.append({**fault.told(), "begun": time.monotonic()})
                getattr(self, fault.kind.replace("-", "_"))(fault)
                self.done[-1]["ended"] = time.monotonic()
        except Exception as error:  # told by the run
            self.error = error

    def wait(self, seconds):
        self.is_over.wait(seconds)

    # Nodes.

    def node(self, fault):
        return self.cluster.nodes[fault.target]

    def node_kill(self, fault):
        node = self.node(fault)
        node.kill()
        self.wait(fault.seconds / 3)
        node.start()

    def node_freeze(self, fault):
        node = self.node(fault)
        node.signal(signal.SIGSTOP)
        self.wait(fault.seconds)
        node.signal(signal.SIGCONT)

    def node_cut_database(self, fault):
        node = self.node(fault)
        for database in self.cluster.databases:
            node.network.cut(database.address)
        self.wait(fault.seconds)
        node.network.join_all()

    def node_cut_callers(self, fault):
        node = self.node(fault)
        node.network.cut(OUTSIDE)
        self.wait(fault.seconds)
        node.network.join_all()

    def node_clock(self, fault):
        node = self.node(fault)
        node.set_clock(fault.detail["clock"])
        self.wait(fault.seconds)
        node.set_clock(0)

    # The database.

    def database_kill(self, fault):
        primary = self.cluster.primary
        primary.kill()
        self.wait(fault.seconds / 3)
        primary.start()
        primary.up()

    def database_freeze(self, fault):
        primary = self.cluster.primary
        primary.signal(signal.SIGSTOP)
        self.wait(fault.seconds)
        primary.signal(signal.SIGCONT)

    def database_full(self, fault):
        primary = self.cluster.primary
        primary.fill()
        self.wait(fault.seconds)
        primary.free()
        self.cluster.restore()

    def standby_cut(self, fault):
        self.cluster.standby.network.cut(self.cluster.primary.address)
        self.wait(fault.seconds)
        self.cluster.standby.network.join_all()

    def failover(self, fault):
        """Nothing that was acknowledged may be lost: a commit is told when it is on both."""
        cluster = self.cluster
        if self.is_lying:
            cluster.cut_off_standby()
            self.wait(fault.detail["pause"])
        cluster.fail_over()
        self.wait(fault.seconds)
        cluster.rebuild_standby()

    def failover_behind(self, fault):
        """Commits that the standby does not have are on the primary, nobody was told of them, and the primary starts again:
        what it says of them then must not be lost when it dies at last."""
        cluster = self.cluster
        cut = time.monotonic()
        cluster.standby.network.cut(cluster.primary.address)
        self.wait(fault.detail["pause"])
        cluster.primary.kill()
        cluster.primary.start()
        cluster.primary.up()
        self.wait(fault.seconds)
        cluster.primary.kill()
        cluster.standby.network.join_all()
        cluster.promote()
        self.losses.append(Loss(cut, time.monotonic(), acknowledged=False))
        self.wait(fault.detail["pause"])
        cluster.rebuild_standby()

    def failover_lossy(self, fault):
        cluster = self.cluster
        cut = cluster.cut_off_standby()
        self.wait(fault.seconds)
        cluster.fail_over()
        over = time.monotonic()
        self.losses.append(Loss(cut, over))
        self.world.lose(cut)
        self.wait(fault.detail["pause"])
        cluster.rebuild_standby()
