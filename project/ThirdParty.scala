import java.security.MessageDigest
import sbt._
import sbt.librarymanagement.ModuleReport

/** The list of the libraries in our jar, which travels in it as `META-INF/license/THIRD-PARTY.txt`. */
object ThirdParty {

  private val header =
    """# The libraries in this jar: coordinate | licence (SPDX) | SHA-256 of the library's own jar.
      |# Their packages are relocated below io.github.pulsarspark.shaded. Their licences and notices are in META-INF.
      |""".stripMargin

  /** What the licences are called in POMs, by name or by address, and in SPDX. The first match wins. */
  private val spdx = Seq(
    "(?i).*apache.*2.*"                     -> "Apache-2.0",
    "(?i).*mit-?0.*"                        -> "MIT-0",
    "(?i).*(\\bmit\\b|bouncy castle).*"     -> "MIT",
    "(?i).*(\\bedl\\b|bsd|go license).*"    -> "BSD-3-Clause",
    "(?i).*(\\bepl\\b|eclipse public).*2.*" -> "EPL-2.0",
    "(?i).*(classpath|gpl2.w.*cpe).*"       -> "GPL-2.0-only WITH Classpath-exception-2.0"
  )

  /** One line for each library, in the order of coordinates. Fails when the licence of one is unknown. */
  def list(report: UpdateReport): String = {
    val modules = report.configuration(ConfigRef("runtime")).toSeq.flatMap(_.modules).filterNot(_.evicted)
    val lines   = for {
      module           <- modules
      (artifact, file) <- module.artifacts if artifact.extension == "jar"
    } yield s"${coordinate(module.module, artifact)} | ${licence(module)} | ${sha256(file)}\n"
    header + lines.distinct.sorted.mkString
  }

  private def coordinate(module: ModuleID, artifact: Artifact): String =
    (Seq(module.organization, module.name, module.revision) ++ artifact.classifier).mkString(":")

  private def licence(module: ModuleReport): String = {
    if (module.licenses.isEmpty) sys.error(s"the POM of ${module.module} has no licence")
    module.licenses.map { case (name, address) =>
      spdx.collectFirst { case (text, id) if (name +: address.toSeq).exists(_.matches(text)) => id }
        .getOrElse(sys.error(s"the licence of ${module.module} is unknown: $name, $address"))
    }.distinct.mkString(" OR ")
  }

  private def sha256(file: File): String =
    MessageDigest.getInstance("SHA-256").digest(IO.readBytes(file)).map(byte => f"$byte%02x").mkString
}
