// swift-tools-version: 6.2
import PackageDescription

// An app outside the project. Elsewhere, the dependency is a URL and a version.
let package = Package(
    name: "kiosk",
    dependencies: [.package(name: "freshet", path: "../..")],
    targets: [
        .executableTarget(
            name: "Kiosk",
            dependencies: [.product(name: "FreshetClient", package: "freshet"), .product(name: "FreshetWire", package: "freshet")])
    ]
)
