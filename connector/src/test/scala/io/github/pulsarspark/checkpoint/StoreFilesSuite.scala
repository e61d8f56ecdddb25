package io.github.pulsarspark.checkpoint

import java.io.{FileNotFoundException, IOException}
import java.util.UUID

import scala.util.{Random, Using}

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileAlreadyExistsException, ParentNotDirectoryException, Path, PathIsNotEmptyDirectoryException}

import io.github.pulsarspark.TestSeed
import io.github.pulsarspark.checkpoint.log.{Content, FileNode, FolderNode, Node, Refusal, Tree}
import io.github.pulsarspark.cluster.WriteSuite
import io.github.pulsarspark.pulsar.topics.CheckpointTopicNames

/** Two JVMs with one store: [[StoreFiles]] over [[CheckpointStore]], whose log each of them writes with a [[LogWriter]]
  * and follows with a [[LogFollower]]. Large contents are in a [[ContentStore]], and a [[SnapshotWriter]] moves the
  * beginning of the log all the time. Whatever the two do, in whatever order, each of them finds the tree that one list
  * of the same changes makes.
  */
class StoreFilesSuite extends WriteSuite {
  import StoreFilesSuite._

  private def settings(records: Int): StoreSettings = {
    val made = new Configuration(false)
    made.set("pulsar-fs.service.url", cluster.serviceUrl)
    made.set("pulsar-fs.snapshotAfterRecords", records.toString)
    made.set("pulsar-fs.inlineBytes", "100")
    StoreSettings(made)
  }

  private def root(): Path = {
    val name = s"q${UUID.randomUUID.toString.take(8)}"
    store(CheckpointTopicNames.Prefix + name)
    store(CheckpointTopicNames.content(CheckpointTopicNames.Prefix + name))
    new Path(s"pulsar-fs://public/default/$name")
  }

  test("two JVMs that write, move and delete by chance have the tree of all changes, and the same refusals") {
    for (_ <- 1 to 3) {
      val seed = TestSeed.next()
      val dice = new Random(seed)
      val at   = root()
      val jvms = Seq(10, 11).map(records => new Jvm(at, settings(records)))
      var tree = Tree.empty
      for (step <- 1 to 150) {
        val jvm                = jvms(dice.nextInt(jvms.size))
        val change             = random(dice, step)
        val clue               = s"seed $seed, step $step: $change"
        val (expected, drafts) = change.on(tree, jvm.drafts)
        assertEquals(outcome(jvm.make(change)), expected.fold(named, _ => "done"), clue)
        tree = expected.getOrElse(tree)
        jvm.drafts = drafts
        if (step % 10 == 0) jvms.foreach(j => assertEquals(j.found(), shown(tree, j.drafts), clue))
      }
    }
  }

  test("a draft that is renamed onto itself stays, and one replaces another only where it may") {
    val jvm          = new Jvm(root(), settings(10))
    val (one, other) = (Seq("a", ".1"), Seq("a", ".2"))

    def renamed(to: Names, overwrite: Boolean) = {
      val result = outcome(jvm.make(Rename(one, to, overwrite)))
      (result, jvm.found().view.filterKeys(_.startsWith("a/")).toMap)
    }

    Seq(MakeFolder(Seq("a")), Write(one, "1", overwrite = false), Write(other, "2", overwrite = false)).foreach(
      jvm.make
    )
    assertEquals(renamed(one, overwrite = true), "done"      -> Map("a/.1" -> "1", "a/.2" -> "2"))
    assertEquals(renamed(one, overwrite = false), "exists"   -> Map("a/.1" -> "1", "a/.2" -> "2"))
    assertEquals(renamed(other, overwrite = false), "exists" -> Map("a/.1" -> "1", "a/.2" -> "2"))
    assertEquals(renamed(other, overwrite = true), "done"    -> Map("a/.2" -> "1"))
  }
}

private object StoreFilesSuite {

  type Names  = Seq[String]
  type Drafts = Map[Names, String]

  /** A change, and what it makes of a tree and of the drafts of the JVM that asks for it. */
  sealed trait Change {
    def on(tree: Tree, drafts: Drafts): (Tree.Changed, Drafts)
  }

  final case class Write(path: Names, text: String, overwrite: Boolean) extends Change {
    def on(tree: Tree, drafts: Drafts): (Tree.Changed, Drafts) =
      if (!isDraft(path)) (tree.put(path, file(text), overwrite), drafts)
      else if (drafts.contains(path) && !overwrite) (Left(Refusal.Exists), drafts)
      else (Right(tree), drafts.updated(path, text))
  }

  final case class MakeFolder(path: Names) extends Change {
    def on(tree: Tree, drafts: Drafts): (Tree.Changed, Drafts) = (tree.makeFolder(path, 1), drafts)
  }

  final case class Delete(path: Names, recursive: Boolean) extends Change {
    def on(tree: Tree, drafts: Drafts): (Tree.Changed, Drafts) =
      if (drafts.contains(path)) (Right(tree), drafts - path)
      else {
        val changed = tree.delete(path, recursive)
        (changed, if (changed.isRight) drafts.filterNot(_._1.startsWith(path)) else drafts)
      }
  }

  final case class Rename(from: Names, to: Names, overwrite: Boolean) extends Change {
    def on(tree: Tree, drafts: Drafts): (Tree.Changed, Drafts) = drafts.get(from) match {
      case Some(text) if isDraft(to) =>
        if (drafts.contains(to) && !overwrite) (Left(Refusal.Exists), drafts)
        else (Right(tree), drafts - from + (to -> text))
      case Some(text) =>
        val changed = tree.put(to, file(text), overwrite)
        (changed, if (changed.isRight) drafts - from else drafts)
      case None => (tree.rename(from, to, overwrite), drafts)
    }
  }

  private def isDraft(path: Names) = path.lastOption.exists(_.startsWith("."))
  private def file(text: String)   = FileNode(new Content(text.getBytes), 1)

  /** A few names, so that most changes meet what is there. Some contents are in the log, others apart from it. */
  def random(dice: Random, step: Int): Change = {
    def path  = Seq.fill(1 + dice.nextInt(2))(s"${"abc".charAt(dice.nextInt(3))}")
    def draft = if (dice.nextInt(3) == 0) path.init :+ s".${dice.nextInt(2)}" else path
    def yes   = dice.nextBoolean()
    dice.nextInt(8) match {
      case 0 | 1 | 2 => Write(draft, s"$step " * (1 + dice.nextInt(60)), yes)
      case 3         => MakeFolder(path)
      case 4         => Delete(draft, yes)
      case 5         => Delete(path, recursive = true)
      case _         => Rename(draft, if (dice.nextInt(4) == 0) draft else path, yes)
    }
  }

  /** Maps a refusal to the failure that Hadoop's contract has for it. */
  def named(why: Refusal): String = why match {
    case Refusal.Exists | Refusal.IsFolder  => "exists"
    case Refusal.Missing | Refusal.NoFolder => "missing"
    case Refusal.NotFolder                  => "not a folder"
    case Refusal.NotEmpty                   => "not empty"
    case Refusal.Inside | Refusal.Late      => "refused"
  }

  def outcome(made: => Boolean): String =
    try if (made) "done" else "missing"
    catch {
      case _: FileAlreadyExistsException       => "exists"
      case _: FileNotFoundException            => "missing"
      case _: ParentNotDirectoryException      => "not a folder"
      case _: PathIsNotEmptyDirectoryException => "not empty"
      case _: IOException                      => "refused"
    }

  /** Each file with its text, and each folder, by its path. */
  def shown(tree: Tree, drafts: Drafts): Map[String, String] = {
    def below(path: Names, node: Node): Map[String, String] = node match {
      case FileNode(content: Content, _) => Map(path.mkString("/") -> new String(content.bytes))
      case folder: FolderNode            =>
        folder.children.flatMap { case (name, child) => below(path :+ name, child) } + (path.mkString("/") -> "folder")
      case other => throw new AssertionError(other)
    }
    val there = below(Nil, tree.root)
    there ++ drafts.collect {
      case (path, text) if there.get(path.init.mkString("/")).contains("folder") =>
        path.mkString("/") -> text
    }
  }

  /** One of two JVMs with the store, and the drafts that it alone has. */
  final class Jvm(root: Path, settings: StoreSettings) {
    private val files = new StoreFiles("public", settings)

    var drafts: Drafts = Map.empty

    private def at(path: Names): Path = if (path.isEmpty) root else new Path(root, path.mkString("/"))

    /** Makes a change after a look at all records: what exists is found without a request, and may be gone elsewhere.
      * False where there was nothing to delete.
      */
    def make(change: Change): Boolean = {
      files.list(root)
      made(change)
    }

    private def made(change: Change): Boolean = change match {
      case Write(path, text, overwrite) =>
        Using.resource(files.create(at(path), overwrite))(_.write(text.getBytes))
        true
      case MakeFolder(path) =>
        files.makeFolder(at(path))
        true
      case Delete(path, recursive)     => files.delete(at(path), recursive)
      case Rename(from, to, overwrite) =>
        files.rename(at(from), at(to), overwrite)
        true
    }

    def found(): Map[String, String] = {
      def below(path: Names): Map[String, String] = files.list(at(path)).flatMap {
        case (Some(name), _: FolderNode) => below(path :+ name)
        case (Some(name), _) => Map((path :+ name).mkString("/") -> new String(files.read(at(path :+ name))))
        case (None, other)   => throw new AssertionError(other)
      }.toMap + (path.mkString("/") -> "folder")
      below(Nil)
    }
  }
}
