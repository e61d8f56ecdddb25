package io.github.pulsarspark

import java.nio.file.{Files, Path}

import scala.jdk.CollectionConverters._
import scala.util.Using
import scala.util.matching.Regex

/** A source file of the connector, as far as its text shows what it defines and uses.
  *
  * @param room
  *   its package without the common root, empty for the root itself
  * @param lines
  *   as they stand in the file
  */
final case class SourceFile(path: Path, room: String, lines: Seq[String]) {

  /** Full name of the class that the file is named after. */
  def qualifiedName: String = s"$room.${path.getFileName.toString.takeWhile(_ != '.')}"

  private val code: String = SourceFile.Silent.replaceAllIn(lines.mkString("\n"), "")

  private val (importing, rest) = code.linesIterator.toSeq.partition(_.trim.startsWith("import "))

  /** Names imported, braces resolved: `a.{b, c}` is `a.b` and `a.c`. */
  val imports: Seq[String] =
    importing.map(_.trim.stripPrefix("import ").stripSuffix(";").stripPrefix("static ")).flatMap {
      case SourceFile.Several(prefix, names) =>
        names.split(",").toSeq.map(n => s"$prefix.${n.trim.takeWhile(!_.isWhitespace)}")
      case one => Seq(one)
    }

  /** Classes, traits and objects at the top of the file; true for those that other packages may use. */
  val definitions: Map[String, Boolean] = rest.flatMap {
    case SourceFile.Definition(modifiers, name) => Some(name -> !modifiers.contains("private"))
    case _                                      => None
  }.groupMapReduce(_._1)(_._2)(_ || _)

  private val words: Set[String] =
    SourceFile.Word.findAllIn(rest.filterNot(_.startsWith("package ")).mkString("\n")).toSet

  /** True if it uses something that the other file defines. */
  def uses(other: SourceFile): Boolean = other != this && other.definitions.keys.exists { name =>
    !definitions.contains(name) && words(name) && (room == other.room || imports.exists(imported(other.room, name)))
  }

  /** Documentation whose text begins with a match, as the number of its line and the text of that line. */
  def openings(first: Regex): Seq[(Int, String)] = {
    val text = lines.mkString("\n")
    val all  = s"/\\*\\*[\\s*]*($first.*)".r.findAllMatchIn(text)
    all.map(m => (text.take(m.start(1)).count(_ == '\n') + 1, m.group(1))).toSeq
  }

  private def imported(room: String, name: String)(entry: String): Boolean = {
    val place = SourceFile.Root + (if (room.isEmpty) "" else s".$room")
    entry == s"$place.$name" || entry == s"${place}._" || entry.startsWith(s"$place.$name.")
  }
}

object SourceFile {
  val Root = "io.github.pulsarspark"

  /** Comments and texts; of an interpolated text, what is inserted stays. */
  private val Silent: Regex =
    """(?s)//[^\n]*|/\*.*?\*/|(?<![a-z])\"\"\".*?\"\"\"|(?<![a-z])"(?:\\.|[^"\\\n])*"|'(?:\\.|[^'\\])'""".r
  private val Several: Regex    = """(.*)\.\{(.*)\}""".r
  private val Definition: Regex =
    """(?:@\S+ )*((?:(?:public|static|private(?:\[\w+\])?|sealed|final|abstract|implicit|case) )*)(?:class|object|trait|interface|record|enum) (\w+).*""".r
  private val Word: Regex = """[A-Za-z_]\w*""".r

  /** All files of Scala and Java below a folder of sources. */
  def under(folder: Path): Seq[SourceFile] = files(folder, ".scala", ".java").map { path =>
    val place = folder.relativize(path.getParent).iterator.asScala.mkString(".")
    SourceFile(path, if (place == Root) "" else place.stripPrefix(s"$Root."), Files.readAllLines(path).asScala.toSeq)
  }

  /** The text of all files with this ending below a folder. */
  def text(folder: Path, ending: String): String = files(folder, ending).map(Files.readString(_)).mkString("\n")

  private def files(folder: Path, endings: String*): Seq[Path] = Using.resource(Files.walk(folder)) {
    _.iterator.asScala.filter(p => endings.exists(p.toString.endsWith)).toSeq.sorted
  }
}
