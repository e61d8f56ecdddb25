package io.github.pulsarspark.checkpoint

import java.io.FileNotFoundException
import java.net.URI
import java.util.EnumSet

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.Options.Rename
import org.apache.hadoop.fs.permission.FsPermission
import org.apache.hadoop.fs.{CreateFlag, FSDataInputStream, FSDataOutputStream, FileAlreadyExistsException, FileStatus, FileSystem, ParentNotDirectoryException, Path, PathIsNotEmptyDirectoryException}
import org.apache.hadoop.util.Progressable

import io.github.pulsarspark.checkpoint.log.{FolderNode, Node}
import io.github.pulsarspark.errors.Conditions

/** A file system for checkpoints in topics of Pulsar: `pulsar-fs://tenant/namespace/store/folder`. All files of a store
  * are the records of one topic, which it creates.
  *
  * It has what a checkpoint needs and refuses everything else by name. Files whose names begin with a dot stay in this
  * JVM until they are renamed.
  */
final class PulsarFileSystem extends FileSystem {
  import PulsarFileSystem._

  private var address = Option.empty[URI]
  private var opened  = Option.empty[StoreFiles]

  override def getScheme: String = Scheme

  override def initialize(name: URI, conf: Configuration): Unit = {
    super.initialize(name, conf)
    setConf(conf)
    val tenant = Option(name.getAuthority).getOrElse(throw StorePath.refused(new Path(name), "it names no tenant"))
    address = Some(new URI(Scheme, tenant, null, null, null))
    opened = Some(new StoreFiles(tenant, StoreSettings(conf)))
  }

  private def files = opened.getOrElse(throw new IllegalStateException("the file system is not initialized"))

  override def getUri: URI = address.getOrElse(URI.create(s"$Scheme:///"))

  /** Names no service of delegation tokens: a tenant is no host whose name could be looked up. */
  override def getCanonicalServiceName: String = null

  override def getWorkingDirectory: Path = new Path(getUri.toString + "/")

  override def setWorkingDirectory(folder: Path): Unit = ()

  override def open(path: Path, bufferSize: Int): FSDataInputStream =
    new FSDataInputStream(new StoreInput(files.read(path)))

  override def create(
      path: Path,
      permission: FsPermission,
      overwrite: Boolean,
      bufferSize: Int,
      replication: Short,
      blockSize: Long,
      progress: Progressable
  ): FSDataOutputStream = new FSDataOutputStream(files.create(path, overwrite), statistics)

  override def createNonRecursive(
      path: Path,
      permission: FsPermission,
      flags: EnumSet[CreateFlag],
      bufferSize: Int,
      replication: Short,
      blockSize: Long,
      progress: Progressable
  ): FSDataOutputStream = {
    if (!getFileStatus(path.getParent).isDirectory) throw new ParentNotDirectoryException(path.getParent.toString)
    create(path, permission, flags.contains(CreateFlag.OVERWRITE), bufferSize, replication, blockSize, progress)
  }

  /** Moves into `to` if that is a folder. Returns false where Hadoop's contract allows it instead of an error. */
  override def rename(from: Path, to: Path): Boolean =
    try {
      val target = if (files.find(to).exists(_.isInstanceOf[FolderNode])) new Path(to, from.getName) else to
      files.rename(from, target, overwrite = false)
      true
    } catch {
      case _: FileNotFoundException | _: FileAlreadyExistsException | _: ParentNotDirectoryException |
          _: PathIsNotEmptyDirectoryException => false
    }

  override def rename(from: Path, to: Path, options: Rename*): Unit =
    files.rename(from, to, overwrite = options.contains(Rename.OVERWRITE))

  override def delete(path: Path, recursive: Boolean): Boolean = files.delete(path, recursive)

  override def mkdirs(path: Path, permission: FsPermission): Boolean = {
    files.makeFolder(path)
    true
  }

  override def listStatus(path: Path): Array[FileStatus] = files.list(path).map { case (name, node) =>
    status(name.fold(path)(new Path(path, _)), node)
  }.toArray

  override def getFileStatus(path: Path): FileStatus =
    status(path, files.find(path).getOrElse(throw new FileNotFoundException(path.toString)))

  private def status(path: Path, node: Node) = {
    val isFolder = node.isInstanceOf[FolderNode]
    val length   = if (isFolder) 0L else node.bytes
    new FileStatus(length, isFolder, 1, getDefaultBlockSize(path), node.time, makeQualified(path))
  }

  override def append(path: Path, bufferSize: Int, progress: Progressable): FSDataOutputStream =
    throw unsupported("append", path)

  override def concat(target: Path, parts: Array[Path]): Unit = throw unsupported("concat", target)

  override def truncate(path: Path, length: Long): Boolean = throw unsupported("truncate", path)

  override def setPermission(path: Path, permission: FsPermission): Unit = throw unsupported("setPermission", path)

  override def setOwner(path: Path, user: String, group: String): Unit = throw unsupported("setOwner", path)

  override def setTimes(path: Path, changed: Long, read: Long): Unit = throw unsupported("setTimes", path)

  override def createSymlink(target: Path, link: Path, createParent: Boolean): Unit =
    throw unsupported("createSymlink", link)

  override def setXAttr(path: Path, name: String, value: Array[Byte], flags: EnumSet[org.apache.hadoop.fs.XAttrSetFlag])
      : Unit = throw unsupported("setXAttr", path)

  private def unsupported(operation: String, path: Path) =
    Conditions.CheckpointStoreUnsupported(operation = operation, path = path.toString).exception
}

private[checkpoint] object PulsarFileSystem {
  val Scheme = "pulsar-fs"
}
