import Glibc

extension ChildProcess {
    /// The path of the program that is running.
    static func ownExecutable() throws(CommandFailure) -> String {
        var buffer = [CChar](repeating: 0, count: Int(PATH_MAX))
        let count = readlink("/proc/self/exe", &buffer, buffer.count)
        guard count > 0 else { throw CommandFailure(.software, "cannot find the program's path: \(systemReason())") }
        return String(decoding: buffer[..<count].map(UInt8.init(bitPattern:)), as: UTF8.self)
    }

    /// Starts a program and returns our ends of the pipes to its input and from its output.
    static func start(_ executable: String, _ arguments: [String]) throws(CommandFailure) -> (pid_t, input: Int32, output: Int32) {
        let input = try pipe()
        let output: (reading: Int32, writing: Int32)
        do { output = try pipe() } catch {
            close(input.reading)
            close(input.writing)
            throw error
        }
        defer {
            close(input.reading)
            close(output.writing)
        }
        do {
            return (try spawn(executable, arguments, input: input.reading, output: output.writing), input.writing, output.reading)
        } catch {
            close(input.writing)
            close(output.reading)
            throw error
        }
    }

    private static func pipe() throws(CommandFailure) -> (reading: Int32, writing: Int32) {
        var ends: [Int32] = [-1, -1]
        guard Glibc.pipe(&ends) == 0 else { throw CommandFailure(.software, "cannot make a pipe: \(systemReason())") }
        for end in ends { _ = fcntl(end, F_SETFD, FD_CLOEXEC) }
        return (ends[0], ends[1])
    }

    private static func spawn(_ executable: String, _ arguments: [String], input: Int32, output: Int32) throws(CommandFailure) -> pid_t {
        var actions = posix_spawn_file_actions_t()
        posix_spawn_file_actions_init(&actions)
        defer { posix_spawn_file_actions_destroy(&actions) }
        posix_spawn_file_actions_adddup2(&actions, input, 0)
        posix_spawn_file_actions_adddup2(&actions, output, 1)

        // Signals that this process ignores or blocks must reach the child.
        var attributes = posix_spawnattr_t()
        posix_spawnattr_init(&attributes)
        defer { posix_spawnattr_destroy(&attributes) }
        var none = sigset_t()
        sigemptyset(&none)
        var all = sigset_t()
        sigfillset(&all)
        posix_spawnattr_setsigmask(&attributes, &none)
        posix_spawnattr_setsigdefault(&attributes, &all)
        posix_spawnattr_setpgroup(&attributes, 0)
        posix_spawnattr_setflags(
            &attributes, Int16(POSIX_SPAWN_SETSIGMASK | POSIX_SPAWN_SETSIGDEF | POSIX_SPAWN_SETPGROUP))

        var vector: [UnsafeMutablePointer<CChar>?] = ([executable] + arguments).map { strdup($0) }
        vector.append(nil)
        defer { for pointer in vector { free(pointer) } }
        var identifier = pid_t()
        let result = posix_spawn(&identifier, executable, &actions, &attributes, vector, environ)
        guard result == 0 else {
            throw CommandFailure(.software, "cannot start \(executable): \(String(cString: strerror(result)))")
        }
        return identifier
    }
}

/// The system's description of the latest error.
func systemReason() -> String { String(cString: strerror(errno)) }
