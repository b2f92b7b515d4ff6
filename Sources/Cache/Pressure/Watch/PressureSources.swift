internal import Glibc

/// The sources of pressure that were found when the watching began. Only ``close()`` closes their descriptors.
struct PressureSources: Sendable {
    /// A descriptor that becomes ready when work waits for memory.
    struct Told: Sendable {
        let descriptor: Int32
        let path: String
        let sign: PressureSign
        /// Whether to wait for data, as for a FIFO; the kernel's files signal with priority.
        let isPipe: Bool
    }

    /// A sign of pressure with its cause.
    struct Sighting: Sendable {
        let sign: PressureSign
        let cause: MemoryPressure.Cause
    }

    private(set) var told: [Told] = []
    private(set) var stalls: [(path: String, meter: StallMeter)] = []
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
        guard told.isEmpty, stalls.isEmpty else { return }
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
    mutating func read(at now: Duration) -> [Sighting] {
        var seen: [Sighting] = []
        for index in stalls.indices {
            guard let totals = KernelFile.text(stalls[index].path).flatMap(StallTotals.init) else { continue }
            seen.append(Sighting(sign: stalls[index].meter.read(totals, at: now), cause: .stalls(path: stalls[index].path)))
        }
        for index in limits.indices {
            if limits[index].countsNewKills() { seen.append(Sighting(sign: .critical, cause: .kills(path: limits[index].path))) }
            guard let usage = limits[index].usage else { continue }
            seen.append(Sighting(sign: usage.sign, cause: .usage(path: limits[index].path, percent: usage.percent)))
        }
        return seen
    }

    /// Stops watching a source that no longer notifies.
    mutating func lose(_ descriptor: Int32, _ reason: String) {
        guard let lost = told.first(where: { $0.descriptor == descriptor }) else { return }
        told.removeAll { $0.descriptor == descriptor }
        Glibc.close(descriptor)
        status.removeAll { $0.path == lost.path }
        note(lost.path, .not(reason: reason))
    }

    /// - Parameter reason: the reason to show for all sources; nil to leave their status.
    mutating func close(_ reason: String?) {
        for told in told { Glibc.close(told.descriptor) }
        if notices >= 0 { Glibc.close(notices) }
        (told, stalls, limits, notices) = ([], [], [], -1)
        guard let reason else { return }
        status = status.map { MemoryPressure.Status.Source(path: $0.path, watch: .not(reason: reason)) }
    }

    private mutating func watchStalls(_ path: String, _ trigger: [UInt8]?) {
        switch StallTrigger.open(path, trigger) {
        case .success(let triggers):
            told += triggers
            note(path, .told)
        case .failure(let refusal):
            if KernelFile.text(path).flatMap(StallTotals.init) == nil {
                note(path, .not(reason: refusal.reason))
            } else {
                stalls.append((path, StallMeter()))
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
