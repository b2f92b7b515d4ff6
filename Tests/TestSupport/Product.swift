import Foundation
package import Subprocess
import SystemPackage

/// The programs that the build puts into the folder of the test bundle.
package enum Product {
    package static let freshet = Executable.path(FilePath(path(of: "freshet")))
    package static let device = Executable.path(FilePath(path(of: "DeviceProcess")))
    package static let kiosk = Executable.path(FilePath(path(of: "Kiosk")))
    package static let cache = Executable.path(FilePath(path(of: "CacheProcess")))

    package static func path(of name: String) -> String {
        let bundle = URL(fileURLWithPath: "/proc/self/exe").resolvingSymlinksInPath()
        return bundle.deletingLastPathComponent().appendingPathComponent(name).path
    }
}
