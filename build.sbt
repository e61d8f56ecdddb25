import Dependencies._

ThisBuild / organization  := "io.github.pulsar-spark"
ThisBuild / version       := Versions.project((ThisBuild / baseDirectory).value)
ThisBuild / versionScheme := Some("early-semver")
ThisBuild / scalaVersion  := Versions.scala

Global / concurrentRestrictions := Seq(
  Tags.limitAll(math.max(EvaluateTask.SystemProcessors, TestGroups.AtOnce) + 1), // tests wait most of the time
  Tags.limit(Tags.ForkedTestGroup, TestGroups.AtOnce),
  Tags.exclusiveGroup(Tags.Clean)
)

lazy val clientJar     = taskKey[File]("The relocated Pulsar client, made again only when it would differ")
lazy val thirdParty    = taskKey[String]("The libraries in the bundle, with their licences")
lazy val fuzzClassPath = taskKey[File]("Writes the class path of Jazzer, the tests and all they need into a file")
lazy val apiCheck      = taskKey[Unit]("Proves that a public method cannot be taken away unnoticed")
lazy val release       = taskKey[File]("Makes all that is published of a version, in dist/release/maven")

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
    thirdParty                       := ThirdParty.list(update.value),
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
  .settings(snippets)
  .settings(testing)
  .settings(oneJar)
  .settings(Pom.metadata)
  .settings(released)
  .settings(publicApi)

/** What implements Spark's real-time mode, which the line that the connector is compiled against lacks: a few Java
  * classes in the same jar, which no other code names.
  */
lazy val realtime = project
  .in(file("connector/src/realtime"))
  .settings(
    libraryDependencies ++= realTime,
    autoScalaLibrary             := false,
    Compile / unmanagedClasspath := (LocalProject("connector") / Compile / products).value.classpath,
    Compile / javaSource         := baseDirectory.value / "java",
    Compile / doc / sources      := Nil,
    javacOptions                 := (LocalProject("connector") / javacOptions).value,
    target                       := (ThisBuild / baseDirectory).value / "target" / "realtime",
    Test / unmanagedSources      := Nil,
    publish / skip               := true
  )

/** The connector's sources, compiled against the client of the next major version of Pulsar and never run. A file in
  * src/next takes the place of that of the same name.
  */
lazy val next = project
  .in(file("target/next"))
  .disablePlugins(ScalafmtPlugin) // they are the connector's
  .settings(
    libraryDependencies ++= Dependencies.next ++ provided,
    excludeDependencies ++= unwanted,
    Compile / unmanagedSources := {
      val instead = ((connector / sourceDirectory).value / "next" ** "*.java").get()
      val names   = instead.map(_.getName).toSet
      instead ++ (connector / Compile / unmanagedSources).value.filterNot(source => names(source.getName))
    },
    Compile / managedSources := (connector / Compile / managedSources).value,
    Compile / resources      := Nil,
    Test / unmanagedSources  := Nil,
    scalacOptions            := (connector / scalacOptions).value,
    // not -Werror: classes of the client name annotations that it does not bring
    javacOptions   := (connector / javacOptions).value.filterNot(_ == "-Werror"),
    publish / skip := true
  )

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

/** What fuzzing needs beside the tests, whose class path it has: Jazzer, which no jar and no test gets. */
lazy val fuzz = project
  .in(file("tools/fuzz"))
  .settings(
    libraryDependencies ++= fuzzing,
    autoScalaLibrary             := false,
    Runtime / unmanagedClasspath := (connector / Test / fullClasspath).value,
    Compile / unmanagedSources   := Nil,
    Test / unmanagedSources      := Nil,
    target                       := (ThisBuild / baseDirectory).value / "target" / "fuzz" / "build",
    publish / skip               := true,
    fuzzClassPath                := {
      val list = (ThisBuild / baseDirectory).value / "target" / "fuzz" / "class-path.txt"
      IO.write(list, (Runtime / fullClasspath).value.map(_.data).mkString(java.io.File.pathSeparator))
      list
    }
  )

/** The comparison with a release, tried on the present jar as the release and on a copy that lacks parts. */
lazy val apiProbe = project
  .in(file("target/api-probe"))
  .settings(publicApi)
  .settings(
    mimaFindBinaryIssues / fullClasspath := (connector / Compile / fullClasspath).value,
    mimaPreviousArtifacts                := Set(organization.value %% (connector / name).value % version.value),
    mimaPreviousClassfiles               := mimaPreviousClassfiles.dependsOn(connector / publish).value,
    mimaCurrentClassfiles  := PublicApi.lacking((connector / Compile / packageBin).value, target.value / "lacking.jar"),
    externalResolvers      := (connector / publishTo).value.toSeq,
    overrideBuildResolvers := false,
    publish / skip         := true,
    apiCheck               := PublicApi.mustFind(mimaFindBinaryIssues.value.values.flatMap(_._1))
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

/** The Scala and Java snippets of pages, which the build compiles with the tests. */
lazy val snippets = Test / sourceGenerators += Def.task {
  Snippets.sources((ThisBuild / baseDirectory).value / "docs", (Test / sourceManaged).value)
}.taskValue

/** One compiler: with two of them half of the CPU time of the tests is theirs. */
lazy val testing = Seq(
  Test / fork := true,
  Test / testListeners += FailedTests,
  Test / testGrouping := TestGroups((Test / definedTests).value, (Test / forkOptions).value),
  Test / javaOptions ++= JvmFlags.spark ++
    Seq("-Xmx1g", "-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1", "-XX:ReservedCodeCacheSize=256m")
)

/** What every published jar carries. */
lazy val legal = Def.setting(Seq("LICENSE", "NOTICE").map((ThisBuild / baseDirectory).value / _))

/** What is published: our classes and the client bundle in one jar, with a POM that asks for nothing more. */
lazy val oneJar = Seq(
  assembly / assemblyOutputPath :=
    (ThisBuild / baseDirectory).value / "dist" / s"${name.value}_${scalaBinaryVersion.value}-${version.value}.jar",
  assembly / assemblyShadeRules    := Shading.ownRules,
  assembly / assemblyMergeStrategy := Shading.mergeOwn,
  assembly / fullClasspath := (Compile / products).value.classpath ++ (realtime / Compile / products).value.classpath ++
    Seq((clientBundle / clientJar).value).classpath,
  Compile / packageBin                   := assembly.value,
  Compile / packageDoc / publishArtifact := false,
  Compile / packageSrc / publishArtifact := false,
  Compile / resourceGenerators += Def.task {
    val folder = (Compile / resourceManaged).value / "META-INF"
    val list   = folder / "license" / "THIRD-PARTY.txt"
    val text   = (clientBundle / thirdParty).value
    if (!list.exists || IO.read(list) != text) IO.write(list, text)
    val texts = ((ThisBuild / baseDirectory).value / "project" / "licences" * "*.txt").get().map { text =>
      text -> folder / "license" / text.getName
    }
    list +: IO.copy(texts ++ legal.value.map(file => file -> folder / file.getName)).toSeq
  }.taskValue,
  publishMavenStyle    := true,
  publishConfiguration := publishConfiguration.value.withOverwrite(true),
  publishTo            := Some(MavenCache("staged", (ThisBuild / baseDirectory).value / "target" / "repo"))
)

/** The jar that users get keeps what is public in the releases before it. */
lazy val publicApi = Seq(
  mimaPreviousArtifacts := Versions.compatibleWith.map(organization.value %% name.value % _).toSet,
  mimaFailOnNoPrevious  := false,
  mimaCurrentClassfiles := (Compile / packageBin).value,
  mimaBinaryIssueFilters += PublicApi.filter
)

/** What a public repository requires beside the jar. `make jar` needs none of it. */
lazy val released = Seq(
  Compile / doc / scalacOptions ++= Seq("-doc-title", name.value, "-doc-version", version.value),
  Compile / packageDoc / mappings ++= legal.value.map(file => file -> s"META-INF/${file.getName}"),
  release := {
    val stem   = s"${name.value}_${scalaBinaryVersion.value}-${version.value}"
    val folder = (ThisBuild / baseDirectory).value / "dist" / "release" / "maven"
    Release.stage(
      organization.value.split('.').foldLeft(folder)(_ / _) / s"${name.value}_${scalaBinaryVersion.value}" /
        version.value,
      Seq(
        (Compile / packageBin).value -> s"$stem.jar",
        makePom.value                -> s"$stem.pom",
        (Compile / packageSrc).value -> s"$stem-sources.jar",
        (Compile / packageDoc).value -> s"$stem-javadoc.jar"
      )
    )
  }
)
