import FreshetClient

/// The small worlds that are searched, with the bounds of the tests.
package enum SmallCatalog {
    package static let worlds: [SmallSetup] = [
        SmallSetup(
            name: "writes", summary: "two devices write one record; batches are late, doubled or lost",
            kinds: [.register], following: [.everything, .cachedKeys],
            operations: [[.put, .delete, .putUnlessChanged, .putMerged], [.put]],
            limits: [.write: 3, .fault: 1, .foreign: 1, .crash: 1]),
        SmallSetup(
            name: "counters", summary: "two devices increment one record",
            kinds: [.counter], following: [.everything, .cachedKeys], operations: [[.increment], [.increment]],
            limits: [.write: 3, .fault: 1, .crash: 1, .epoch: 1, .foreign: 1]),
        SmallSetup(
            name: "documents", summary: "patches, and deletes below them",
            kinds: [.document], following: [.everything, .everything], operations: [[.patch, .put], [.patch, .delete]],
            limits: [.write: 3, .crash: 1, .foreign: 1, .read: 1]),
        SmallSetup(
            name: "epochs", summary: "dropped, restored and renewed namespaces below writes under way",
            kinds: [.register], following: [.everything, .cachedKeys], operations: [[.put, .putMerged], [.put]],
            limits: [.write: 2, .epoch: 2, .crash: 1, .read: 1]),
        SmallSetup(
            name: "merges", summary: "increments to be merged, whose verdicts are lost, in namespaces that begin again",
            kinds: [.counter], following: [.cachedKeys], operations: [[.incrementMerged]],
            limits: [.write: 1, .read: 1, .epoch: 1, .crash: 1]),
        SmallSetup(
            name: "large values", summary: "conflicts over records that are too large to be shown with a rejection",
            kinds: [.register], following: [.cachedKeys, .everything], operations: [[.putUnlessChanged, .putMerged, .put], [.put]],
            limits: [.write: 3, .fault: 1, .foreign: 1, .read: 1, .crash: 1, .eviction: 1], showsValues: false),
        SmallSetup(
            name: "clears", summary: "log-outs and log-ins around writes, reads and pages",
            kinds: [.register], following: [.everything], operations: [[.put, .delete]],
            limits: [.write: 2, .clear: 2, .crash: 1, .read: 1, .foreign: 1, .fault: 1]),
        SmallSetup(
            name: "reads", summary: "reads among pages, invalidations and evictions of a device that follows what it holds",
            kinds: [.register], following: [.cachedKeys], operations: [[.put]],
            limits: [.write: 1, .read: 2, .foreign: 2, .eviction: 1, .wake: 1, .fault: 1, .crash: 1]),
        SmallSetup(
            name: "first contact", summary: "devices that know nothing yet, with writes before the first response",
            kinds: [.register], following: [.everything, .cachedKeys], operations: [[.put], [.put]],
            limits: [.write: 2, .read: 1, .crash: 1, .epoch: 1, .foreign: 1], beginsLive: false),
        SmallSetup(
            name: "all kinds", summary: "one record of each kind, in pages of one change",
            kinds: [.register, .counter, .document], following: [.everything, .cachedKeys],
            operations: [[.put, .increment, .patch], [.increment]],
            limits: [.write: 3, .crash: 1, .foreign: 1, .epoch: 1], keptOutcomes: 1, pageLimit: 1),
    ]
}
