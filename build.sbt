import Dependencies._

ThisBuild / organization  := "io.github.pulsar-spark"
ThisBuild / version       := Versions.project((ThisBuild / baseDirectory).value)
ThisBuild / versionScheme := Some("early-semver")
ThisBuild / scalaVersion  := Versions.scala

lazy val clientJar = taskKey[File]("The relocated Pulsar client, made again only when it would differ")

/** The Pulsar client and all it needs, relocated, in one jar: made once, and again only when versions or rules change.
  */
lazy val clientBundle = project
  .in(file("target/client-bundle"))
  .settings(
    libraryDependencies ++= bundled,
    excludeDependencies ++= notBundled,
    autoScalaLibrary                 := false,
    publish / skip                   := true,
    assembly / assemblyOutputPath    := target.value / "client-bundle.jar",
    assembly / assemblyShadeRules    := Shading.libraryRules,
    assembly / assemblyMergeStrategy := Shading.mergeLibraries,
    assembly / fullClasspath         := Shading.trimmed((Runtime / externalDependencyClasspath).value, target.value),
    clientJar                        := Def.taskDyn {
      val jar   = (assembly / assemblyOutputPath).value
      val stamp = target.value / "client-bundle.stamp"
      val key   = Shading.key((Runtime / externalDependencyClasspath).value, (ThisBuild / baseDirectory).value)
      if (jar.exists && stamp.exists && IO.read(stamp) == key) Def.task(jar)
      else Def.task { val made = assembly.value; IO.write(stamp, key); made }
    }.value
  )

lazy val connector = project
  .in(file("connector"))
  .enablePlugins(BuildInfoPlugin)
  .settings(
    name := "pulsar-spark-connector",
    libraryDependencies ++= bundled ++ provided ++ tests,
    excludeDependencies ++= unwanted,
    scalacOptions ++= Seq("-deprecation", "-feature", "-unchecked", "-Xlint", "-Wunused", "-Werror", "-release", "17"),
    javacOptions ++= Seq("--release", "17", "-Xlint:unchecked,rawtypes,cast,fallthrough", "-Werror")
  )
  .settings(buildInfo)
  .settings(conditions)
  .settings(testing)
  .settings(oneJar)

/** Throughput of single parts, beside the other benchmarks and in no jar. Uses the messages and entries of the tests.
  */
lazy val micro = project
  .in(file("benchmarks/micro"))
  .settings(
    Compile / unmanagedClasspath := (connector / Test / fullClasspath).value,
    Runtime / unmanagedClasspath := (connector / Test / fullClasspath).value,
    scalacOptions                := (connector / scalacOptions).value,
    target                       := (ThisBuild / baseDirectory).value / "target" / "micro",
    Compile / scalaSource        := baseDirectory.value,
    Test / unmanagedSources      := Nil,
    Compile / run / fork         := true,
    Compile / mainClass          := Some("io.github.pulsarspark.micro.MicroBenchmarks"),
    run / baseDirectory          := (ThisBuild / baseDirectory).value,
    run / javaOptions ++= JvmFlags.spark ++ Seq("-Xmx1g", "-XX:+UseSerialGC"),
    publish / skip := true
  )

lazy val buildInfo = Seq(
  buildInfoPackage := "io.github.pulsarspark",
  buildInfoKeys    := Seq[BuildInfoKey](version, "sparkVersion" -> Versions.spark, "pulsarVersion" -> Versions.pulsar),
  buildInfoOptions += BuildInfoOption.PackagePrivate
)

/** A typed constructor for every error. */
lazy val conditions = Compile / sourceGenerators += Def.task {
  val place = "io/github/pulsarspark"
  val json  = (Compile / resourceDirectory).value / place / "error-conditions.json"
  val made  = (Compile / sourceManaged).value / place / "errors" / "Conditions.scala"
  val text  = ErrorConditions.source(json)
  if (!made.exists || IO.read(made) != text) IO.write(made, text)
  Seq(made)
}.taskValue

lazy val testing = Seq(
  Test / fork := true,
  Test / javaOptions ++= JvmFlags.spark ++ Seq("-Xmx1g", "-XX:+UseSerialGC")
)

/** What is published: our classes and the client bundle in one jar, with a POM that asks for nothing more. */
lazy val oneJar = Seq(
  assembly / assemblyOutputPath :=
    (ThisBuild / baseDirectory).value / "dist" / s"${name.value}_${scalaBinaryVersion.value}-${version.value}.jar",
  assembly / assemblyShadeRules    := Shading.ownRules,
  assembly / assemblyMergeStrategy := Shading.mergeOwn,
  assembly / fullClasspath := (Compile / products).value.classpath ++ Seq((clientBundle / clientJar).value).classpath,
  Compile / packageBin     := assembly.value,
  Compile / packageDoc / publishArtifact := false,
  Compile / packageSrc / publishArtifact := false,
  Compile / resourceGenerators += Def.task {
    val root = (ThisBuild / baseDirectory).value
    Seq("LICENSE", "NOTICE").map { name =>
      val copy = (Compile / resourceManaged).value / "META-INF" / name
      IO.copyFile(root / name, copy)
      copy
    }
  }.taskValue,
  pomIncludeRepository := (_ => false),
  pomPostProcess       := Pom.withoutDependencies,
  publishMavenStyle    := true,
  publishConfiguration := publishConfiguration.value.withOverwrite(true),
  publishTo            := Some(MavenCache("staged", (ThisBuild / baseDirectory).value / "target" / "repo"))
)
