package io.github.pulsarspark.options

import java.nio.file.{Files, Path}

import io.github.pulsarspark.errors.Conditions

/** A file that an option names. It must be on every machine that uses the option. */
private[pulsarspark] object NamedFile {

  /** Fails with the names of option and file when this machine cannot read the file: clients report only the type of
    * the failure.
    */
  def check(option: String, file: String): Unit =
    if (!Files.isReadable(Path.of(file)))
      throw Conditions.FileUnreadable(option = option, file = file).exception
}
