extension MemoryPressure {
    /// The sources of pressure that are watched, those that are not, and why.
    public struct Status: Hashable, Sendable, CustomStringConvertible {
        /// A source of memory pressure.
        public struct Source: Hashable, Sendable, CustomStringConvertible {
            /// How a source is watched.
            public enum Watch: Hashable, Sendable {
                /// The kernel or the service manager notifies at once.
                case notified
                /// The source is read periodically, for this reason.
                case read(reason: String)
                /// The source is not watched, for this reason.
                case not(reason: String)
            }

            /// The file, or for a limit the directory of the control group.
            public let path: String
            /// How it is watched.
            public let watch: Watch

            /// A line for people.
            public var description: String {
                switch watch {
                case .notified: "\(path): notifies at once"
                case .read(let reason): "\(path): read now and then: \(reason)"
                case .not(let reason): "\(path): not watched: \(reason)"
                }
            }
        }

        /// Whether anything is watched now. Nothing is watched without joined caches and listeners.
        public let isWatching: Bool
        /// The share of their limits that caches may use now, in percent.
        public let percent: Int
        /// The sources that were found when the watching began; none before that.
        public let sources: [Source]

        /// Some lines for people.
        public var description: String {
            (["caches may use \(percent) % of their limits"] + (isWatching ? sources.map(\.description) : ["nothing is watched"]))
                .joined(separator: "\n")
        }
    }
}
