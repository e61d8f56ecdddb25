package io.github.pulsarspark.options

import java.nio.file.{Files, InvalidPathException, Path}

import scala.util.Using
import scala.util.control.NonFatal

import io.github.pulsarspark.errors.Conditions
import io.github.pulsarspark.policy.AllowedFiles
import io.github.pulsarspark.options.registry.Secret

/** A file that an option names. It must be on every machine that uses the option, and where a shared server has a
  * policy, in a folder of it. A device or a file without an end would fill the memory of a driver.
  */
private[pulsarspark] object NamedFile {

  /** Size limit of a file: far more than tokens, keys, stores of certificates and descriptors. */
  val MaxBytes: Int = 16 << 20

  /** Size limit of all files but descriptors. */
  private def mostBytes = AllowedFiles.mostBytes(MaxBytes)

  /** Fails with the names of option and file when this machine cannot read the file: clients report only the type of
    * the failure.
    */
  def check(option: String, file: String): Unit =
    problem(option, pathOf(option, file), file, mostBytes).foreach(p => throw refused(option, file, p))

  def read(option: String, file: String): Array[Byte] = read(option, file, mostBytes)

  /** Like `read`, for descriptors, which are larger than what else options name. */
  def readLarge(option: String, file: String): Array[Byte] = read(option, file, MaxBytes)

  private def read(option: String, file: String, most: Int) =
    bytes(option, pathOf(option, file), most).fold(p => throw refused(option, file, p), identity)

  /** The content, or why there is none. */
  def bytes(option: String, file: Path): Either[String, Array[Byte]] = bytes(option, file, mostBytes)

  private def bytes(option: String, file: Path, most: Int) =
    problem(option, file, file.toString, most).toLeft(file).flatMap(_ =>
      try Right(Using.resource(Files.newInputStream(file))(_.readNBytes(most + 1)))
      catch { case NonFatal(e) => Left(s"cannot be read (${e.getClass.getSimpleName})") }
    ).filterOrElse(_.length <= most, tooLarge(most))

  /** Reason why a file cannot be read whose name must not be shown; None if it can. */
  def hiddenProblem(option: String, file: Path): Option[String] = problem(option, file, Secret.Mask, mostBytes)

  private def problem(option: String, file: Path, shown: String, most: Int): Option[String] = {
    AllowedFiles.check(option, file, shown)
    if (!Files.exists(file)) Some("does not exist on this machine")
    else if (!Files.isRegularFile(file)) Some("is no file")
    else if (!Files.isReadable(file)) Some("cannot be read on this machine")
    else Option.when(Files.size(file) > most)(tooLarge(most))
  }

  private def tooLarge(most: Int) = s"has more than $most bytes"

  private def pathOf(option: String, file: String) =
    try Path.of(file)
    catch { case _: InvalidPathException => throw refused(option, file, "has no valid path") }

  private def refused(option: String, file: String, problem: String) =
    Conditions.FileUnreadable(option = option, file = file, problem = problem).exception
}
