// swift-tools-version: 6.2
import PackageDescription

// The tables and charts of the measurements. A separate package, so that its tests need no other build.
let package = Package(
    name: "freshet-figures",
    products: [.library(name: "Figures", targets: ["Figures"])],
    targets: [
        .target(name: "Figures", swiftSettings: [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]),
        .testTarget(
            name: "FiguresTests", dependencies: ["Figures"], swiftSettings: [.swiftLanguageMode(.v6), .treatAllWarnings(as: .error)]),
    ]
)
