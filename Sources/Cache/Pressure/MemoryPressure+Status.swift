extension MemoryPressure {
    /// What is watched, what is not, and why.
    public struct Status: Hashable, Sendable, CustomStringConvertible {
        /// One thing that tells of memory.
        public struct Source: Hashable, Sendable, CustomStringConvertible {
            /// How it is watched.
            public enum Watch: Hashable, Sendable {
                /// The kernel, or the service manager, tells at once.
                case told
                /// It is read now and then, for the reason that the text tells.
                case read(reason: String)
                /// It is not watched, for the reason that the text tells.
                case not(reason: String)
            }

            /// The file, or for a limit the directory of the control group.
            public let path: String
            /// How it is watched.
            public let watch: Watch

            /// A line for people.
            public var description: String {
                switch watch {
                case .told: "\(path): told at once"
                case .read(let reason): "\(path): read now and then: \(reason)"
                case .not(let reason): "\(path): not watched: \(reason)"
                }
            }
        }

        /// Whether anything is watched now. Nothing is while no cache has joined and nobody listens.
        public let isWatching: Bool
        /// The share of their limits that caches may use now, in percent.
        public let percent: Int
        /// What was found when the watching began; nothing before that.
        public let sources: [Source]

        /// Some lines for people.
        public var description: String {
            (["caches may use \(percent) % of their limits"] + (isWatching ? sources.map(\.description) : ["nothing is watched"]))
                .joined(separator: "\n")
        }
    }
}
