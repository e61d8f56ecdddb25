package io.github.pulsarspark.checkpoint

import java.net.URI

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Options.Rename
import org.apache.hadoop.fs.{DelegateToFileSystem, Path}

/** [[PulsarFileSystem]] for Hadoop's newer interface, by which Spark renames the files of a checkpoint. Hadoop finds it
  * by the setting `fs.AbstractFileSystem.pulsar-fs.impl`.
  */
final class PulsarFs(uri: URI, conf: Configuration)
    extends DelegateToFileSystem(uri, new PulsarFileSystem, conf, PulsarFileSystem.Scheme, false) {

  override def renameInternal(from: Path, to: Path): Unit = renameInternal(from, to, false)

  /** Decides with one record. */
  override def renameInternal(from: Path, to: Path, overwrite: Boolean): Unit =
    PulsarFs.rename(fsImpl, from, to, overwrite)
}

private object PulsarFs {
  private def rename(files: org.apache.hadoop.fs.FileSystem, from: Path, to: Path, overwrite: Boolean): Unit =
    files match {
      case own: PulsarFileSystem => own.rename(from, to, if (overwrite) Rename.OVERWRITE else Rename.NONE)
      case other                 => throw new IllegalStateException(other.getClass.getName)
    }
}
