package io.github.pulsarspark.options

import java.nio.file.{Files, InvalidPathException, Path}

import scala.util.Using
import scala.util.control.NonFatal

import io.github.pulsarspark.errors.Conditions

/** A file that an option names. It must be on every machine that uses the option. A device or a file without an end
  * would fill the memory of a driver.
  */
private[pulsarspark] object NamedFile {

  /** Size limit of a file: far more than tokens, keys, stores of certificates and descriptors. */
  val MaxBytes: Int = 16 << 20

  /** Fails with the names of option and file when this machine cannot read the file: clients report only the type of
    * the failure.
    */
  def check(option: String, file: String): Unit = problem(pathOf(option, file)).foreach(p =>
    throw refused(option, file, p)
  )

  def read(option: String, file: String): Array[Byte] =
    bytes(pathOf(option, file)).fold(p => throw refused(option, file, p), identity)

  /** The content, or why there is none. */
  def bytes(file: Path): Either[String, Array[Byte]] = problem(file).toLeft(file).flatMap(_ =>
    try Right(Using.resource(Files.newInputStream(file))(_.readNBytes(MaxBytes + 1)))
    catch { case NonFatal(e) => Left(s"cannot be read (${e.getClass.getSimpleName})") }
  ).filterOrElse(_.length <= MaxBytes, tooLarge)

  /** Reason why the file cannot be read; None if it can. */
  def problem(file: Path): Option[String] =
    if (!Files.exists(file)) Some("does not exist on this machine")
    else if (!Files.isRegularFile(file)) Some("is no file")
    else if (!Files.isReadable(file)) Some("cannot be read on this machine")
    else Option.when(Files.size(file) > MaxBytes)(tooLarge)

  private def tooLarge = s"has more than $MaxBytes bytes"

  private def pathOf(option: String, file: String) =
    try Path.of(file)
    catch { case _: InvalidPathException => throw refused(option, file, "has no valid path") }

  private def refused(option: String, file: String, problem: String) =
    Conditions.FileUnreadable(option = option, file = file, problem = problem).exception
}
