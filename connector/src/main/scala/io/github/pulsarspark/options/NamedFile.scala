package io.github.pulsarspark.options

import java.nio.file.{Files, Path}

import io.github.pulsarspark.errors.Conditions

/** A file that an option names; it has to be on whichever machine uses the option. */
private[pulsarspark] object NamedFile {

  /** Fails with the names of option and file when it cannot be read here; clients tell no more than the type of what
    * went wrong.
    */
  def check(option: String, file: String): Unit =
    if (!Files.isReadable(Path.of(file)))
      throw Conditions.FileUnreadable(option = option, file = file).exception
}
