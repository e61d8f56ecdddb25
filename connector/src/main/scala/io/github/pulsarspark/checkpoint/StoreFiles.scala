package io.github.pulsarspark.checkpoint

import java.io.{FileNotFoundException, IOException, InterruptedIOException}

import org.apache.hadoop.fs.{FileAlreadyExistsException, ParentNotDirectoryException, Path, PathIsNotEmptyDirectoryException}

import io.github.pulsarspark.checkpoint.log.{Change, FileNode, FolderNode, Node, Outcome, Refusal}
import io.github.pulsarspark.errors.{Conditions, PulsarError}

/** Operations on the files of stores, in the words of Hadoop's errors. Failures of a store are an `IOException` whose
  * cause has a name.
  *
  * @param tenant
  *   that of the file system
  */
private[checkpoint] final class StoreFiles(tenant: String, settings: StoreSettings) {
  import StoreFiles._

  /** A file or a folder, with the temporary files of this JVM. */
  def find(path: Path): Option[Node] = failing(path) {
    StorePath(path, tenant) match {
      case StorePath.Above      => Some(FolderNode.empty(0))
      case at: StorePath.Within =>
        val own = slot(at)
        if (at.isTemporary) own.temporaries.find(at.names).orElse(own.ifExists(_.known(at.names)))
        else own.ifExists(_.find(at.names))
    }
  }

  /** The bytes of a file. */
  def read(path: Path): Array[Byte] = failing(path) {
    val at    = StorePath.within(path, tenant)
    val own   = slot(at)
    val bytes = own.temporaries.bytes(at.names).orElse(find(path).flatMap {
      case file: FileNode => own.use(_.read(at.names, file))
      case _: FolderNode  => throw new FileNotFoundException(s"$path is a folder")
    })
    bytes.getOrElse(throw new FileNotFoundException(path.toString))
  }

  /** Names and nodes in a folder, in order; a file is the one thing in itself. */
  def list(path: Path): Seq[(Option[String], Node)] = failing(path) {
    val at  = StorePath.within(path, tenant)
    val own = slot(at)
    own.ifExists(_.findNow(at.names)).orElse(own.temporaries.find(at.names)) match {
      case Some(folder: FolderNode) =>
        (folder.children.toSeq ++ own.temporaries.in(at.names)).sortBy(_._1).map { case (name, node) =>
          Some(name) -> node
        }
      case Some(file) => Seq(None -> file)
      case None       => throw new FileNotFoundException(path.toString)
    }
  }

  /** A stream whose file exists when it is closed. */
  def create(path: Path, overwrite: Boolean): StoreOutput = failing(path) {
    val at    = StorePath.within(path, tenant)
    val own   = slot(at)
    val there = if (at.isTemporary) own.temporaries.find(at.names) else find(path)
    there match {
      case Some(_: FolderNode)             => throw new FileAlreadyExistsException(s"$path is a folder")
      case Some(_: FileNode) if !overwrite => throw new FileAlreadyExistsException(path.toString)
      case _                               => if (!at.isTemporary) checkFolder(path)
    }
    def full(bytes: Long) = Conditions.CheckpointStoreFull(topic = at.topic, bytes = bytes.toString,
      limit = settings.maxFileBytes.toString)
    new StoreOutput(
      settings.maxFileBytes,
      full,
      content =>
        if (at.isTemporary) own.temporaries.put(at.names, content)
        else failing(path)(done(path, own.use(_.put(at.names, content, overwrite))))
    )
  }

  private def checkFolder(path: Path): Unit = Option(path.getParent).foreach { folder =>
    if (StorePath(folder, tenant) != StorePath.Above) find(folder) match {
      case Some(_: FileNode) => throw new ParentNotDirectoryException(s"$folder is a file")
      case Some(_)           => ()
      case None              => checkFolder(folder)
    }
  }

  def makeFolder(path: Path): Unit = failing(path) {
    StorePath(path, tenant) match {
      case StorePath.Above      => ()
      case at: StorePath.Within =>
        val change = Change.MakeFolder(at.names)
        slot(at).use { store =>
          if (!store.find(at.names).exists(_.isInstanceOf[FolderNode]))
            done(path, store.change("Making a folder", change))
        }
    }
  }

  /** True if there was something to delete. */
  def delete(path: Path, recursive: Boolean): Boolean = failing(path) {
    val at  = StorePath.within(path, tenant)
    val own = slot(at)
    if (own.temporaries.remove(at.names)) true
    else {
      val deleting = own.ifExists(store =>
        store.find(at.names).map(_ => store.change("Deleting", Change.Delete(at.names, recursive)))
      )
      deleting match {
        case Some(Outcome.Refused(Refusal.Missing)) | None => false
        case Some(outcome)                                 =>
          done(path, outcome)
          own.temporaries.removeBelow(at.names)
          true
      }
    }
  }

  /** Gives a file or a folder another path; fails as Hadoop's contract says. A temporary file is written by it. */
  def rename(from: Path, to: Path, overwrite: Boolean): Unit = failing(from) {
    val (source, target) = (StorePath.within(from, tenant), StorePath.within(to, tenant))
    if (source.topic != target.topic) throw StorePath.refused(to, s"$from is in another store")
    val own = slot(source)
    own.temporaries.bytes(source.names) match {
      case Some(bytes) if target.isTemporary =>
        if (!overwrite && own.temporaries.find(target.names).isDefined) throw refused(to, Refusal.Exists)
        own.temporaries.remove(source.names)
        own.temporaries.put(target.names, bytes)
      case Some(bytes) =>
        done(to, own.use(_.put(target.names, bytes, overwrite)))
        own.temporaries.remove(source.names)
      case None =>
        val moving = own.ifExists(store =>
          Some(store.change("Renaming", Change.Rename(source.names, target.names, overwrite)))
        )
        moving.getOrElse(Outcome.Refused(Refusal.Missing)) match {
          case Outcome.Refused(Refusal.Missing) => throw new FileNotFoundException(from.toString)
          case outcome                          => done(to, outcome)
        }
    }
    ()
  }

  private def slot(at: StorePath.Within) = CheckpointStores.slot(at.topic, settings)
}

private object StoreFiles {

  private def done(path: Path, outcome: Outcome): Unit = outcome match {
    case Outcome.Refused(why) => throw refused(path, why)
    case _                    => ()
  }

  private def refused(path: Path, why: Refusal): IOException = why match {
    case Refusal.Exists    => new FileAlreadyExistsException(path.toString)
    case Refusal.Missing   => new FileNotFoundException(path.toString)
    case Refusal.IsFolder  => new FileAlreadyExistsException(s"$path is a folder")
    case Refusal.NotFolder => new ParentNotDirectoryException(s"a file is above $path, or is there")
    case Refusal.NotEmpty  => new PathIsNotEmptyDirectoryException(path.toString)
    case Refusal.Inside    => new IOException(s"$path is in what is to be moved there")
    case Refusal.NoFolder  => new FileNotFoundException(s"the folder of $path")
    case Refusal.Late      => new IOException(s"$path is not written: its content was stored too early; write it again")
  }

  private def failing[A](path: Path)(body: => A): A =
    try body
    catch {
      case e: InterruptedException =>
        val interrupted = new InterruptedIOException(s"interrupted at $path")
        interrupted.initCause(e)
        throw interrupted
      case e: Throwable with PulsarError => throw new IOException(e.getMessage, e)
    }
}
