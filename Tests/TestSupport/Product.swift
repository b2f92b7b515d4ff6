import Foundation
package import Subprocess
import SystemPackage

/// The programs that the build puts beside the test bundle.
package enum Product {
    package static let freshet = beside("freshet")
    package static let device = beside("DeviceProcess")

    private static func beside(_ name: String) -> Executable {
        let bundle = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        return .path(FilePath(bundle.deletingLastPathComponent().appendingPathComponent(name).path))
    }
}
