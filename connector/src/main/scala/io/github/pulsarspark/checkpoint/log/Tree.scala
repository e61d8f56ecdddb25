package io.github.pulsarspark.checkpoint.log

/** The files and folders of a store at one place of its log. Immutable and pure: equal changes in equal order make
  * equal trees in every JVM.
  *
  * A path is the list of its names from the root of the store, which is the empty one.
  */
private[checkpoint] final case class Tree(root: FolderNode) {
  import Tree._

  def find(path: Seq[String]): Option[Node] = path.foldLeft(Option[Node](root)) {
    case (Some(folder: FolderNode), name) => folder.children.get(name)
    case _                                => None
  }

  /** Writes a file, with the folders above it.
    *
    * @param overwrite
    *   false to fail if the file exists
    */
  def put(path: Seq[String], file: FileNode, overwrite: Boolean): Changed = find(path) match {
    case Some(_: FolderNode)             => Left(Refusal.IsFolder)
    case Some(_: FileNode) if !overwrite => Left(Refusal.Exists)
    case _                               => place(path, file, file.time)
  }

  /** Makes a folder, with those above it; one that exists stays as it is. */
  def makeFolder(path: Seq[String], time: Long): Changed = find(path) match {
    case Some(_: FolderNode) => Right(this)
    case Some(_: FileNode)   => Left(Refusal.Exists)
    case None                => place(path, FolderNode.empty(time), time)
  }

  /** Deletes a file or a folder. The root stays, empty.
    *
    * @param recursive
    *   false to fail for a folder that is not empty
    */
  def delete(path: Seq[String], recursive: Boolean): Changed = find(path) match {
    case None                                                               => Left(Refusal.Missing)
    case Some(folder: FolderNode) if !recursive && folder.children.nonEmpty => Left(Refusal.NotEmpty)
    case Some(_) if path.isEmpty                                            => Right(Tree(FolderNode.empty(root.time)))
    case Some(_)                                                            => Right(Tree(without(root, path)))
  }

  /** Gives a file or a folder another path. The folder of the new one must exist.
    *
    * @param overwrite
    *   true to replace a file, or an empty folder by a folder
    */
  def rename(from: Seq[String], to: Seq[String], overwrite: Boolean): Changed =
    (find(from), find(to)) match {
      case (None, _)                                       => Left(Refusal.Missing)
      case (Some(_: FileNode), _) if from == to            => if (overwrite) Right(this) else Left(Refusal.Exists)
      case _ if to.startsWith(from)                        => Left(Refusal.Inside)
      case (_, Some(_)) if !overwrite                      => Left(Refusal.Exists)
      case (Some(_: FileNode), Some(_: FolderNode))        => Left(Refusal.IsFolder)
      case (Some(_: FolderNode), Some(_: FileNode))        => Left(Refusal.NotFolder)
      case (_, Some(f: FolderNode)) if f.children.nonEmpty => Left(Refusal.NotEmpty)
      case _ if !find(to.init).exists(_.isInstanceOf[FolderNode]) => Left(Refusal.NoFolder)
      case (Some(node), _) => Tree(without(root, from)).place(to, node, node.time)
    }

  /** Files whose contents are apart from the log, with their paths. */
  def apart: Iterator[(Seq[String], Apart)] = {
    def below(path: Seq[String], node: Node): Iterator[(Seq[String], Apart)] = node match {
      case FileNode(content: Apart, _)      => Iterator(path -> content)
      case _: FileNode                      => Iterator.empty
      case FolderNode(children, _, _, _, _) => children.iterator.flatMap { case (name, n) => below(path :+ name, n) }
    }
    below(Nil, root)
  }

  private def place(path: Seq[String], node: Node, time: Long): Changed = {
    def within(folder: FolderNode, rest: Seq[String]): Either[Refusal, FolderNode] =
      if (rest.size == 1) Right(folder + (rest.head, node))
      else
        folder.children.getOrElse(rest.head, FolderNode.empty(time)) match {
          case next: FolderNode => within(next, rest.tail).map(changed => folder + (rest.head, changed))
          case _: FileNode      => Left(Refusal.NotFolder)
        }
    within(root, path).map(Tree(_))
  }

  private def without(folder: FolderNode, path: Seq[String]): FolderNode = folder.children.get(path.head) match {
    case Some(next: FolderNode) if path.size > 1 => folder + (path.head, without(next, path.tail))
    case _                                       => folder - path.head
  }
}

private[checkpoint] object Tree {
  type Changed = Either[Refusal, Tree]

  val empty: Tree = Tree(FolderNode.empty(0))

  /** Limit of the names of a path: a tree is walked by recursion. */
  val MaxLevels = 200
}

/** Reason why a change has no effect. */
private[checkpoint] sealed trait Refusal

private[checkpoint] object Refusal {
  case object Exists    extends Refusal
  case object Missing   extends Refusal
  case object IsFolder  extends Refusal
  case object NotFolder extends Refusal // a file is where a folder has to be
  case object NotEmpty  extends Refusal
  case object Inside    extends Refusal // a folder would be below itself
  case object NoFolder  extends Refusal // the folder of the new path does not exist

  /** The content may be deleted already: it was stored long before its record. */
  case object Late extends Refusal
}
