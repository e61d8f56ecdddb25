import java.nio.charset.StandardCharsets.ISO_8859_1
import java.util.zip.ZipFile
import sbt._
import scala.jdk.CollectionConverters._

/** Finds the part of fastutil, some hundred of its 12,000 classes, that the client needs. */
object FastutilReach {

  /** A class names every class it uses in its constant pool, as plain text. */
  private val ClassName = """it/unimi/dsi/[\w/$]+""".r

  /** Tells which entries of the `fastutil` jar the `users` reach, directly or through other classes of it. */
  def reached(fastutil: File, users: Seq[File]): String => Boolean = {
    val names = closure(users.flatMap(namesByEntry(_).values.flatten).toSet, namesByEntry(fastutil))
    entry => names(entry.stripSuffix(".class"))
  }

  private def closure(roots: Set[String], edges: Map[String, Set[String]]): Set[String] = {
    val next = roots.flatMap(edges.getOrElse(_, Set.empty[String])) ++ roots
    if (next.size == roots.size) roots else closure(next, edges)
  }

  private def namesByEntry(jar: File): Map[String, Set[String]] = {
    val zip = new ZipFile(jar)
    try
      zip.entries.asScala.filter(_.getName.endsWith(".class")).map { entry =>
        val text = new String(IO.readBytes(zip.getInputStream(entry)), ISO_8859_1)
        entry.getName.stripSuffix(".class") -> ClassName.findAllIn(text).toSet
      }.toMap
    finally zip.close()
  }
}
