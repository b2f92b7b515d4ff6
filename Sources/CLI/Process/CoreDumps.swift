import CFreshetLinux

/// Core dumps of this process: files with all of its memory, secrets included.
enum CoreDumps {
    /// Disables them for the rest of the process's life, and keeps other processes of its user from attaching to it
    /// (`PR_SET_DUMPABLE` of prctl(2)). Returns false if the system refuses; then `errno` has the reason.
    static func disable() -> Bool { freshet_set_dumpable(0) == 0 }
}
