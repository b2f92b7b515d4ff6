internal import Glibc

/// The sources of pressure that were found when the watching began. Only ``close()`` closes their descriptors.
struct PressureSources: Sendable {
    /// A descriptor that becomes ready when work waits for memory.
    struct Trigger: Sendable {
        let descriptor: Int32
        let path: String
        let level: PressureLevel
        /// Whether to wait for data, as for a FIFO; the kernel's files signal with priority.
        let isPipe: Bool
    }

    /// A sign of pressure with its cause.
    struct Reading: Sendable {
        let level: PressureLevel
        let cause: MemoryPressure.Cause
    }

    private(set) var triggers: [Trigger] = []
    private(set) var stalls: [(path: String, reader: PSIReader)] = []
    private(set) var limits: [MemoryLimit] = []
    /// Notifies of changes of `memory.events`; -1 if there is none.
    private(set) var notices: Int32 = -1
    private(set) var status: [MemoryPressure.Status.Source] = []

    init(_ configuration: MemoryPressure.Configuration) {
        let root = configuration.root
        if configuration.servicePath == "/dev/null" {
            note("/dev/null", .not(reason: "MEMORY_PRESSURE_WATCH asks for nothing to be watched"))
            return
        }
        let groups = KernelFile.text(root + "/proc/self/cgroup") ?? ""
        let mounts = KernelFile.text(root + "/proc/self/mountinfo") ?? ""
        let group = ControlGroup.unified(groups: groups, mounts: mounts)
        if let path = configuration.servicePath {
            watchStalls(path, configuration.serviceTrigger)
        } else if let directory = group?.directories.first {
            watchStalls("\(root)\(directory)/memory.pressure", nil)
        } else {
            note(root + "/proc/self/cgroup", .not(reason: "the process is in no control group of version 2"))
        }
        watchStalls(root + "/proc/pressure/memory", nil)
        watchLimits(group, ControlGroup.legacyMemory(groups: groups, mounts: mounts), root)
        guard triggers.isEmpty, stalls.isEmpty else { return }
        let machine = MemoryLimit(path: root + "/proc/meminfo", kind: .machine)
        if machine.usage == nil {
            note(machine.path, .not(reason: "it does not state how much memory is available"))
        } else {
            limits.append(machine)
            note(machine.path, .read(reason: "the kernel does not report how long work waits for memory"))
        }
    }

    /// Whether any source has to be read periodically.
    var areReadable: Bool { !stalls.isEmpty || !limits.isEmpty }

    /// Reads all sources that have to be read periodically.
    mutating func read(at now: Duration) -> [Reading] {
        var seen: [Reading] = []
        for index in stalls.indices {
            guard let totals = KernelFile.text(stalls[index].path).flatMap(PSITotals.init) else { continue }
            seen.append(Reading(level: stalls[index].reader.read(totals, at: now), cause: .stalls(path: stalls[index].path)))
        }
        for index in limits.indices {
            if limits[index].countsNewKills() { seen.append(Reading(level: .critical, cause: .kills(path: limits[index].path))) }
            guard let usage = limits[index].usage else { continue }
            seen.append(Reading(level: usage.level, cause: .usage(path: limits[index].path, percent: usage.percent)))
        }
        return seen
    }

    /// Stops watching a source that no longer notifies.
    mutating func lose(_ descriptor: Int32, _ reason: String) {
        guard let lost = triggers.first(where: { $0.descriptor == descriptor }) else { return }
        triggers.removeAll { $0.descriptor == descriptor }
        Glibc.close(descriptor)
        status.removeAll { $0.path == lost.path }
        note(lost.path, .not(reason: reason))
    }

    /// - Parameter reason: the reason to show for all sources; nil to leave their status.
    mutating func close(_ reason: String?) {
        for trigger in triggers { Glibc.close(trigger.descriptor) }
        if notices >= 0 { Glibc.close(notices) }
        (triggers, stalls, limits, notices) = ([], [], [], -1)
        guard let reason else { return }
        status = status.map { MemoryPressure.Status.Source(path: $0.path, watch: .not(reason: reason)) }
    }

    private mutating func watchStalls(_ path: String, _ trigger: [UInt8]?) {
        switch PSITrigger.open(path, trigger) {
        case .success(let triggers):
            self.triggers += triggers
            note(path, .notified)
        case .failure(let refusal):
            if KernelFile.text(path).flatMap(PSITotals.init) == nil {
                note(path, .not(reason: refusal.reason))
            } else {
                stalls.append((path, PSIReader()))
                note(path, .read(reason: refusal.reason))
            }
        }
    }

    private mutating func watchLimits(_ group: ControlGroup?, _ legacy: ControlGroup?, _ root: String) {
        let unified = (group?.directories ?? []).map { MemoryLimit(path: root + $0, kind: .group) }
        let counted = (legacy?.directories ?? []).map { MemoryLimit(path: root + $0, kind: .legacyGroup) }
        guard let own = (counted.first ?? unified.first)?.path else { return }
        let found = (unified + counted).filter { $0.usage != nil }
        guard !found.isEmpty else {
            return note(own, .not(reason: "neither this control group nor one above it has a limit of memory"))
        }
        for var limit in found {
            let isTold = limit.kind == .group && hearEvents(of: limit)
            _ = limit.countsNewKills()
            limits.append(limit)
            note(limit.path, .read(reason: isTold ? "and at once when it is reached" : "it does not notify when it is reached"))
        }
    }

    /// Watches `memory.events` by inotify, which works as for any other file.
    private mutating func hearEvents(of limit: MemoryLimit) -> Bool {
        if notices < 0 { notices = inotify_init1(Int32(IN_NONBLOCK | IN_CLOEXEC)) }
        return notices >= 0 && inotify_add_watch(notices, limit.path + "/memory.events", UInt32(IN_MODIFY)) >= 0
    }

    private mutating func note(_ path: String, _ watch: MemoryPressure.Status.Source.Watch) {
        status.append(MemoryPressure.Status.Source(path: path, watch: watch))
    }
}
