import Foundation

/// The figures of a process that Linux reports.
struct ProcessFigures {
    let identifier: Int32

    /// Resident memory, in MiB.
    var memory: Double { status("VmRSS:") / 1_024 }
    /// The most since the process began, or since `forgetPeak`, in MiB.
    var peak: Double { status("VmHWM:") / 1_024 }

    /// Seconds of processor time since the process began, in the kernel's ticks of 10 ms.
    var processorTime: Double {
        let text = (try? String(contentsOfFile: "/proc/\(identifier)/stat", encoding: .utf8)) ?? ""
        // The name of the program, which comes before, may contain spaces.
        let fields = text.split(separator: ")").last.map { $0.split(separator: " ") } ?? []
        guard fields.count > 12, let user = Double(fields[11]), let system = Double(fields[12]) else { return 0 }
        return (user + system) / Double(sysconf(Int32(_SC_CLK_TCK)))
    }

    func forgetPeak() throws { try "5".write(toFile: "/proc/\(identifier)/clear_refs", atomically: false, encoding: .utf8) }

    /// The process's first child; `nil` where it has none.
    var child: Int32? {
        let text = try? String(contentsOfFile: "/proc/\(identifier)/task/\(identifier)/children", encoding: .utf8)
        return text?.split(separator: " ").first.flatMap { Int32($0) }
    }

    private func status(_ name: String) -> Double {
        let text = (try? String(contentsOfFile: "/proc/\(identifier)/status", encoding: .utf8)) ?? ""
        let line = text.split(separator: "\n").first { $0.hasPrefix(name) } ?? ""
        return Double(line.filter(\.isNumber)) ?? 0
    }
}
