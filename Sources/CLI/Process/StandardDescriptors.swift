import Glibc

/// The descriptors of standard input, output and error.
enum StandardDescriptors {
    /// Opens /dev/null for those that are closed. Otherwise the next file or connection would get the number, and what the program
    /// prints would be written into it. Reads of an input that was closed fail, as before.
    ///
    /// To be called before anything is opened.
    static func openClosed() {
        for (descriptor, mode) in [(STDIN_FILENO, O_WRONLY), (STDOUT_FILENO, O_RDWR), (STDERR_FILENO, O_RDWR)]
        where fcntl(descriptor, F_GETFD) < 0 {
            // The lowest free number is this one, since those below it are open.
            guard open("/dev/null", mode) == descriptor else { _exit(ExitStatus.software.rawValue) }
        }
    }
}
