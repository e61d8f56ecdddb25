import com.eed3si9n.jarjarabrams.ShadeRule
import java.io.{BufferedReader, ByteArrayInputStream, InputStreamReader}
import java.nio.charset.StandardCharsets.UTF_8
import sbt._
import sbt.Keys.Classpath
import sbtassembly.Assembly.JarEntry
import sbtassembly.{CustomMergeStrategy, MergeStrategy, PathList}

/** How third-party code gets into the one jar: everything is renamed to live below our own package, so that it meets
  * neither Spark's copies nor the user's. Names bound from native code are the exception, because the native library
  * spells them out.
  */
object Shading {
  val prefix = "io.github.pulsarspark.shaded."

  private val relocated = Seq(
    "com.fasterxml",
    "com.github.benmanes",
    "com.google",
    "com.scurrilous",
    "com.spotify",
    "com.sun.activation",
    "com.typesafe.netty",
    "com.yahoo",
    "io.airlift",
    "io.netty",
    "io.opentelemetry",
    "io.swagger",
    "it.unimi",
    "javax.activation",
    "javax.annotation",
    "javax.validation",
    "javax.ws",
    "org.apache.avro",
    "org.apache.bookkeeper",
    "org.apache.commons",
    "org.apache.jute",
    "org.apache.pulsar",
    "org.apache.zookeeper",
    "org.asynchttpclient",
    "org.bouncycastle",
    "org.jctools",
    "org.reactivestreams",
    "org.roaringbitmap",
    "org.yaml"
  )

  /** The first rule that matches wins, so these names stay. */
  private val boundFromNativeCode = Seq("com.scurrilous.circe.crc.Sse42Crc32C")

  private val renames =
    boundFromNativeCode.map(name => ShadeRule.rename(name -> name)) ++
      relocated.map(name => ShadeRule.rename(s"$name.**" -> s"$prefix$name.@1"))

  /** For the third-party jars. */
  val libraryRules: Seq[ShadeRule] = renames.map(_.inAll)

  /** For our own classes, which are compiled against the original names. */
  val ownRules: Seq[ShadeRule] = renames.map(_.inProject)

  /** Netty looks for its native libraries under its own package's name, dots as underscores. */
  private val nativePrefix = "lib" + prefix.replace('.', '_')
  private val keptNative   = """lib(netty_(?:transport_native_epoll|tcnative_linux)_(?:x86_64|aarch_64)\.so)""".r

  /** AsyncHttpClient asks for its defaults by keys that start with its class names, which the renaming changes in the
    * classes only.
    */
  private val prefixedKeys = CustomMergeStrategy("prefixed keys") { conflicts =>
    val lines   = IO.readLines(new BufferedReader(new InputStreamReader(conflicts.head.stream(), UTF_8)))
    val renamed = lines.map(line => if (line.startsWith("org.asynchttpclient.")) prefix + line else line).mkString("\n")
    Right(Vector(JarEntry(conflicts.head.target, () => new ByteArrayInputStream(renamed.getBytes(UTF_8)))))
  }

  /** Adds our own classes to the bundle: a path in both is an error. */
  val mergeOwn: String => MergeStrategy = {
    case PathList("META-INF", "MANIFEST.MF") => MergeStrategy.discard
    case _                                   => MergeStrategy.deduplicate
  }

  /** Decides for each path of the bundle, already renamed, what becomes of it. */
  val mergeLibraries: String => MergeStrategy = {
    case PathList("META-INF", "native", file) if file.startsWith(nativePrefix) =>
      MergeStrategy.first // renamed by the next line
    case PathList("META-INF", "native", keptNative(name)) =>
      CustomMergeStrategy.rename(_ => s"META-INF/native/$nativePrefix$name")
    case PathList(
          "META-INF",
          "services",
          "java.security.Provider" | "reactor.blockhound.integration.BlockHoundIntegration"
        ) => MergeStrategy.discard
    case PathList("META-INF", "services", _*)                                       => MergeStrategy.filterDistinctLines
    case PathList("META-INF", file) if file.matches("(?i)(LICENSE|NOTICE)(\\..*)?") => MergeStrategy.rename
    case PathList("META-INF", file) if file.matches("(?i)(LICENSE|NOTICE)_.*")      =>
      MergeStrategy.first // renamed by the line above
    case PathList("META-INF", "license", _)                           => MergeStrategy.first
    case PathList("META-INF", _*)                                     => MergeStrategy.discard
    case PathList("lib", "libcirce-checksum.so")                      => MergeStrategy.first
    case PathList(path @ _*) if path.last == "ahc-default.properties" => prefixedKeys
    case PathList(path @ _*) if path.last == "module-info.class"      => MergeStrategy.discard
    case PathList("io", "github", "pulsarspark", _*)                  => MergeStrategy.first
    case path if path.endsWith(".class")                              => MergeStrategy.first
    case _                                                            => MergeStrategy.discard
  }

  /** The class path to bundle, with the jars made smaller that hold much more than is needed. */
  def trimmed(classPath: Classpath, folder: File): Classpath = {
    val jars = classPath.map(_.data)
    jars.map {
      case jar if jar.getName.startsWith("fastutil") =>
        repacked(jar, folder)(FastutilReach.reached(jar, jars.filterNot(_ == jar)))
      // classes for newer Java versions than the renaming can read
      case jar if jar.getName.startsWith("bc") => repacked(jar, folder)(!_.startsWith("META-INF/versions/"))
      case jar                                 => jar
    }.classpath
  }

  private def repacked(jar: File, folder: File)(keep: String => Boolean): File = {
    val target = folder / s"trimmed-${jar.getName}"
    IO.withTemporaryDirectory { unpacked =>
      IO.unzip(jar, unpacked, (name: String) => keep(name))
      IO.zip(Path.allSubpaths(unpacked), target, None)
    }
    target
  }

  /** Changes when the bundle must be made again: with the jars that go in or with anything in `project/`. */
  def key(classPath: Classpath, root: File): String =
    (classPath.map(_.data.getName) ++ (root / "project" * ("*.scala" | "*.sbt")).get().sorted.map(IO.read(_))).mkString(
      "\n"
    )
}
