import com.typesafe.tools.mima.core.{Problem, ProblemFilter}
import java.net.URI
import java.nio.charset.StandardCharsets.ISO_8859_1
import java.nio.file.{FileSystems, Files}
import java.util.Collections
import sbt._

/** What programs may name of the jar, as `docs/use/compatibility.md` promises. All else is internal. */
object PublicApi {
  private val root   = "io.github.pulsarspark"
  private val client = s"$root.shaded.org.apache.pulsar.client.api"

  val classes: Seq[String] = Seq(
    s"$root.PulsarTableProvider",
    s"$root.catalog.PulsarCatalog",
    s"$root.checkpoint.PulsarFileSystem",
    s"$root.checkpoint.PulsarFs",
    s"$root.functions.PulsarFunctions",
    s"$root.progress.PrometheusListener",
    // What classes of users implement, and what these return.
    s"$client.Authentication",
    s"$client.AuthenticationDataProvider",
    s"$client.CryptoKeyReader",
    s"$client.EncryptionKeyInfo"
  )

  /** Keeps the problems of public classes and of their members. */
  val filter: ProblemFilter = problem =>
    problem.matchName.exists { name =>
      classes.exists(public => name == public || Seq(".", "$").exists(next => name.startsWith(public + next)))
    }

  private val functions = s"$root.functions.PulsarFunctions"

  /** A copy of the jar without public classes; one of them is still there, but lacks a method. An internal one lacks,
    * too.
    */
  def lacking(jar: File, copy: File): File = {
    IO.copyFile(jar, copy)
    val files = FileSystems.newFileSystem(URI.create(s"jar:${copy.toURI}"), Collections.emptyMap[String, String])
    try {
      def file(name: String) = files.getPath(s"${name.replace('.', '/')}.class")
      (s"$root.functions.FromPulsar" +: classes.filter(_ != functions)).foreach(name => Files.delete(file(name)))
      // A name in a class file has its length before it; a name of the same length takes its place.
      val code = new String(Files.readAllBytes(file(s"$functions$$")), ISO_8859_1)
      Files.write(file(s"$functions$$"), code.replace("\u0000\btoPulsar", "\u0000\bnoPulsar").getBytes(ISO_8859_1))
    } finally files.close()
    copy
  }

  /** Fails unless a comparison with that copy finds all that it lacks, and nothing else. */
  def mustFind(problems: Iterable[Problem]): Unit = {
    val found    = problems.filter(filter).flatMap(_.matchName).toSet
    val expected = classes.toSet - functions + s"$functions.toPulsar"
    if (found != expected)
      sys.error(s"The comparison of public APIs misses ${expected -- found}, and reports ${found -- expected}")
  }
}
