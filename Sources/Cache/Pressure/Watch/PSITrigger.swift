internal import Glibc

/// Sets up kernel notifications for tasks that wait for memory; see <https://docs.kernel.org/accounting/psi.html>.
enum PSITrigger {
    /// The reason why there are no notifications.
    struct Refusal: Error, Hashable {
        let reason: String
    }

    /// Opens a `memory.pressure` file, once for each of the two triggers, or a FIFO of the service manager.
    ///
    /// - Parameter warning: the trigger for a warning; nil for the default one.
    static func open(_ path: String, _ warning: [UInt8]?) -> Result<[PressureSources.Trigger], Refusal> {
        var about = stat()
        guard stat(path, &about) == 0 else { return .failure(Refusal(reason: reason(errno))) }
        if about.st_mode & S_IFMT == S_IFIFO {
            // Opened for reading and writing, so that the FIFO does not end with its writer.
            let descriptor = Glibc.open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK)
            guard descriptor >= 0 else { return .failure(Refusal(reason: reason(errno))) }
            return .success([PressureSources.Trigger(descriptor: descriptor, path: path, level: .warning, isPipe: true)])
        }
        guard about.st_mode & S_IFMT == S_IFREG else {
            return .failure(Refusal(reason: "it is neither a file of the kernel's nor a FIFO"))
        }
        let warning = warning ?? Array("some \(PSIReader.some) \(PSIReader.window)\0".utf8)
        let critical = Array("full \(PSIReader.full) \(PSIReader.window)\0".utf8)
        return arm(path, warning, .warning).flatMap { first in
            switch arm(path, critical, .critical) {
            case .success(let second): return .success([first, second])
            case .failure(let refusal):
                close(first.descriptor)
                return .failure(refusal)
            }
        }
    }

    /// Sets one trigger, which holds until the descriptor is closed.
    private static func arm(_ path: String, _ trigger: [UInt8], _ level: PressureLevel) -> Result<PressureSources.Trigger, Refusal> {
        let descriptor = Glibc.open(path, O_RDWR | O_CLOEXEC | O_NONBLOCK)
        guard descriptor >= 0 else { return .failure(Refusal(reason: reason(errno))) }
        guard KernelFile.isKernels(descriptor) else {
            close(descriptor)
            return .failure(Refusal(reason: "it is a plain file, which sends no notifications"))
        }
        guard write(descriptor, trigger, trigger.count) == trigger.count else {
            let number = errno
            close(descriptor)
            return .failure(Refusal(reason: reason(number)))
        }
        return .success(PressureSources.Trigger(descriptor: descriptor, path: path, level: level, isPipe: false))
    }

    /// The meaning of an error number here, and a remedy.
    private static func reason(_ number: Int32) -> String {
        switch number {
        case ENOENT: "there is no such file: this kernel or control group counts no waiting for memory (CONFIG_PSI, psi=1)"
        case EOPNOTSUPP: "the kernel was started without counting waiting: start it with psi=1"
        case EACCES, EPERM, EROFS: "this process may not write to it: have its service manager set MemoryPressureWatch=on"
        default: String(cString: strerror(number))
        }
    }
}
