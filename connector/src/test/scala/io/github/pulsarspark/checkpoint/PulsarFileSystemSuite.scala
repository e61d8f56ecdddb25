package io.github.pulsarspark.checkpoint

import java.io.{FileNotFoundException, IOException}
import java.net.URI
import java.util.UUID

import scala.concurrent.duration._
import scala.util.Using

import org.apache.hadoop.conf.Configuration
import org.apache.hadoop.fs.{FileAlreadyExistsException, FileContext, FileSystem, Options, ParentNotDirectoryException, Path, PathIsNotEmptyDirectoryException}

import io.github.pulsarspark.checkpoint.log.{Apart, Change, FileNode, LogRecord, RecordFormat}
import io.github.pulsarspark.cluster.{ScriptedCluster, StoredTopic, TopicEntry, TopicLedger, WriteSuite}
import io.github.pulsarspark.errors.PulsarError
import io.github.pulsarspark.pulsar.PulsarConnection
import io.github.pulsarspark.pulsar.journal.JournalTopic
import io.github.pulsarspark.pulsar.topics.CheckpointTopicNames
import io.github.pulsarspark.pulsar.transactions.ControlAccess

/** Promises of the file system, by Hadoop's two interfaces, with a broker in this JVM. */
class PulsarFileSystemSuite extends WriteSuite {

  private def conf(more: (String, String)*): Configuration = {
    val made = new Configuration(false)
    made.set("fs.AbstractFileSystem.pulsar-fs.impl", classOf[PulsarFs].getName)
    made.set("pulsar-fs.service.url", cluster.serviceUrl)
    more.foreach { case (key, value) => made.set(key, value) }
    made
  }

  private def store(): Path = {
    val name = s"q${UUID.randomUUID.toString.take(8)}"
    store(CheckpointTopicNames.Prefix + name)
    store(contents(name))
    new Path(s"pulsar-fs://public/default/$name")
  }

  private def contents(name: String) = CheckpointTopicNames.content(CheckpointTopicNames.Prefix + name)

  private def fileSystem(path: Path): FileSystem = path.getFileSystem(conf())

  private def write(fs: FileSystem, path: Path, text: String, overwrite: Boolean = false): Unit =
    Using.resource(fs.create(path, overwrite))(_.write(text.getBytes))

  private def read(fs: FileSystem, path: Path): String =
    Using.resource(fs.open(path))(in => new String(in.readAllBytes))

  private def append(root: Path, record: Array[Byte]): Unit = {
    val name = topic(CheckpointTopicNames.Prefix + root.getName)
    Using.resource(PulsarConnection(client()))(_.journal(name).writer().append(record).get())
    ()
  }

  /** Places of the content of a file. */
  private def place(root: Path, name: String): Option[Any] = {
    val settings = StoreSettings(conf("pulsar-fs.snapshotAfterRecords" -> "10"))
    CheckpointStores.slot(topic(CheckpointTopicNames.Prefix + root.getName), settings)
      .use(_.find(Seq(name)))
      .collect { case FileNode(content: Apart, _) => content.places }
  }

  private def named(body: => Any): String =
    Iterator.iterate[Throwable](intercept[Throwable](body))(_.getCause).takeWhile(_ != null).collectFirst {
      case e: PulsarError => e.condition
    }.getOrElse("none")

  test("a file is found by its service, written, read, listed and deleted") {
    val root = store()
    val fs   = fileSystem(root)
    val file = new Path(root, "offsets/0")
    assert(fs.isInstanceOf[PulsarFileSystem])
    write(fs, file, "text")
    assertEquals(read(fs, file), "text")
    assertEquals(fs.listStatus(root).map(_.getPath.getName).toSeq, Seq("offsets"))
    assertEquals(fs.listStatus(file.getParent).map(s => (s.getPath, s.getLen, s.isFile)).toSeq, Seq((file, 4L, true)))
    assert(fs.delete(file, false))
    assert(!fs.delete(file, false))
    assert(!fs.exists(file))
    intercept[FileNotFoundException](fs.open(file))
    intercept[FileNotFoundException](fs.listStatus(file))
  }

  test("a file is created once, and replaced if asked") {
    val root = store()
    val fs   = fileSystem(root)
    val file = new Path(root, "f")
    write(fs, file, "one")
    intercept[FileAlreadyExistsException](fs.create(file, false))
    write(fs, file, "two", overwrite = true)
    assertEquals(read(fs, file), "two")
    intercept[ParentNotDirectoryException](fs.create(new Path(file, "below"), false))
    intercept[FileAlreadyExistsException](fs.create(root, true))
  }

  test("of two that write one file at the same time, one fails when it closes") {
    val root          = store()
    val fs            = fileSystem(root)
    val (first, next) = (fs.create(new Path(root, "f"), false), fs.create(new Path(root, "f"), false))
    next.write(1)
    next.close()
    first.write(2)
    intercept[FileAlreadyExistsException](first.close())
    assertEquals(Using.resource(fs.open(new Path(root, "f")))(_.read()), 1)
  }

  test("a draft is in this JVM alone until it is renamed, by both interfaces") {
    val root  = store()
    val fs    = fileSystem(root)
    val draft = new Path(root, ".f.1.tmp")
    requests()
    write(fs, draft, "draft")
    assertEquals(read(fs, draft), "draft")
    assertEquals(requests().filter(_.contains(root.getName)), Nil)
    assert(fs.rename(draft, new Path(root, "f")))
    assert(!fs.exists(draft))
    write(fs, draft, "second")
    assert(!fs.rename(draft, new Path(root, "f")), "a rename replaces nothing")
    val context = FileContext.getFileContext(root.toUri, conf())
    intercept[FileAlreadyExistsException](context.rename(draft, new Path(root, "f"), Options.Rename.NONE))
    context.rename(draft, new Path(root, "f"), Options.Rename.OVERWRITE)
    assertEquals(read(fs, new Path(root, "f")), "second")
    intercept[FileNotFoundException](context.rename(draft, new Path(root, "g"), Options.Rename.NONE))
  }

  test("folders: made with those above, listed, moved into, deleted as a whole") {
    val root = store()
    val fs   = fileSystem(root)
    assert(fs.mkdirs(new Path(root, "a/b")))
    assert(fs.mkdirs(new Path(root, "a/b")))
    write(fs, new Path(root, "a/b/f"), "x")
    intercept[FileAlreadyExistsException](fs.mkdirs(new Path(root, "a/b/f")))
    assert(fs.mkdirs(new Path(root, "c")))
    assert(fs.rename(new Path(root, "a/b"), new Path(root, "c")))
    assertEquals(read(fs, new Path(root, "c/b/f")), "x")
    intercept[IOException](fs.rename(new Path(root, "c"), new Path(root, "c/b/x")))
    intercept[PathIsNotEmptyDirectoryException](fs.delete(new Path(root, "c"), false))
    assert(fs.delete(new Path(root, "c"), true))
    assertEquals(fs.listStatus(root).map(_.getPath.getName).toSeq, Seq("a"))
    assert(fs.getFileStatus(root).isDirectory && fs.getFileStatus(new Path("pulsar-fs://public/default")).isDirectory)
  }

  test("a file of several records, sought and read in parts") {
    val root  = store()
    val fs    = fileSystem(root)
    val bytes = Array.tabulate[Byte](3 * (1 << 20) + 5)(_.toByte)
    Using.resource(fs.create(new Path(root, "large")))(_.write(bytes))
    Using.resource(fs.open(new Path(root, "large"))) { in =>
      assert(java.util.Arrays.equals(in.readAllBytes(), bytes))
      in.seek(1 << 20)
      assertEquals(in.read().toByte, bytes(1 << 20))
      val some = new Array[Byte](7)
      in.readFully(2L << 20, some)
      assertEquals(some.toSeq, bytes.slice(2 << 20, (2 << 20) + 7).toSeq)
      intercept[IOException](in.seek(bytes.length + 1L))
    }
  }

  test("another JVM that opens the store has the same files, from a snapshot as well") {
    val root = store()
    val fs   = FileSystem.newInstance(root.toUri, conf("pulsar-fs.snapshotAfterRecords" -> "10"))
    (1 to 60).foreach(n => write(fs, new Path(root, s"d/${n % 7}"), s"$n", overwrite = true))
    val other = FileSystem.newInstance(root.toUri, conf("pulsar-fs.snapshotAfterRecords" -> "11"))
    (0 to 6).foreach(n => assertEquals(read(other, new Path(root, s"d/$n")), read(fs, new Path(root, s"d/$n"))))
    write(other, new Path(root, "d/new"), "x")
    assertEquals(fs.listStatus(new Path(root, "d")).length, 8)
  }

  test("a large file is apart from the log, and there for each JVM under each of its names") {
    val root  = store()
    val fs    = fileSystem(root)
    val other = FileSystem.newInstance(root.toUri, conf("pulsar-fs.snapshotAfterRecords" -> "4999"))
    val text  = Iterator.continually(UUID.randomUUID.toString).take(10000).mkString
    write(fs, new Path(root, "f"), text)
    assertEquals(read(other, new Path(root, "f")), text)
    assert(fs.rename(new Path(root, "f"), new Path(root, "g")))
    assertEquals(read(other, new Path(root, "g")), text)
    assertEquals(other.getFileStatus(new Path(root, "g")).getLen, text.length.toLong)
    val log = cluster.topic(topic(CheckpointTopicNames.Prefix + root.getName))
    assert(log.ledgers.flatMap(_.entries).map(_.bytes.length).sum < 10000, "the log has its places alone")
  }

  test("old contents are stored anew, so that a store that is written for long keeps what it has") {
    val root = store()
    val fs   = FileSystem.newInstance(root.toUri, conf("pulsar-fs.snapshotAfterRecords" -> "10"))
    val kept = "kept" * 1000
    write(fs, new Path(root, "kept"), kept)
    val before = place(root, "kept")
    val until  = System.nanoTime() + 60000000000L
    while (place(root, "kept") == before && System.nanoTime() < until)
      write(fs, new Path(root, "new"), "new" * 20000, overwrite = true)
    assertNotEquals(place(root, "kept"), before)
    assertEquals(read(fs, new Path(root, "kept")), kept)
  }

  test("contents that somebody deleted are named; the other files of the store stay") {
    val root = store()
    val fs   = fileSystem(root)
    write(fs, new Path(root, "large"), "x" * 10000)
    write(fs, new Path(root, "small"), "x")
    cluster.remove(cluster.topic(topic(contents(root.getName))))
    store(contents(root.getName))
    assertEquals(named(read(fs, new Path(root, "large"))), "PULSAR_CHECKPOINT_STORE_CONTENT")
    assertEquals(read(fs, new Path(root, "small")), "x")
  }

  test("a store of a later version is refused by name") {
    val root   = store()
    val record = RecordFormat.bytes(LogRecord(UUID.randomUUID, 1, 0, Change.Created(UUID.randomUUID)))
    append(root, record.updated(2, 77: Byte))
    assertEquals(named(fileSystem(root).exists(root)), "PULSAR_CHECKPOINT_STORE_VERSION")
  }

  test("a slot that nobody has used for long is forgotten") {
    val slots = new StoreSlots
    val slot  = slots.slot(topic("x"), StoreSettings(conf()))
    slots.sweep(idle = 1.hour, forgotten = 1.hour)
    assertEquals(slots.all, Seq(slot))
    assertEquals(slots.slot(topic("x"), StoreSettings(conf())), slot)
    slots.sweep(idle = Duration.Zero, forgotten = Duration.Zero)
    assertEquals(slots.all, Nil)
  }

  test("a store that does not exist is not made by a look") {
    val fs = fileSystem(new Path("pulsar-fs://public/default/none"))
    assert(!fs.exists(new Path("pulsar-fs://public/default/none/offsets")))
    assert(!fs.delete(new Path("pulsar-fs://public/default/none/offsets"), true))
  }

  test("a checkpoint needs no more: what is refused has a name") {
    val root = store()
    val fs   = fileSystem(root)
    val file = new Path(root, "f")
    write(fs, file, "x")
    val refused = Seq[() => Any](
      () => fs.append(file),
      () => fs.truncate(file, 1),
      () => fs.concat(file, Array(file)),
      () => fs.setOwner(file, "a", "b"),
      () => fs.setTimes(file, 1, 1),
      () => fs.setXAttr(file, "user.a", Array.emptyByteArray),
      () => fs.createSymlink(file, file, false)
    )
    refused.foreach(call => assertEquals(named(call()), "PULSAR_CHECKPOINT_STORE_UNSUPPORTED"))
  }

  test("paths that are none of a store") {
    val fs = fileSystem(new Path("pulsar-fs://public/default/x"))
    Seq("pulsar-fs://public/default/x-partition-0/f", "pulsar-fs://public/default/x-content/f",
      "pulsar-fs://public/default", "pulsar-fs://public/").foreach(p =>
      assertEquals(named(fs.create(new Path(p))), "PULSAR_CHECKPOINT_STORE_PATH", p)
    )
    assertEquals(named(FileSystem.newInstance(URI.create("pulsar-fs:///x/y"), conf())), "PULSAR_CHECKPOINT_STORE_PATH")
  }

  test("a path of more folders than a store walks through is refused before it is written") {
    val path = new Path(s"pulsar-fs://t/n/store/${"d/" * 201}f")
    assertEquals(named(StorePath(path, "t")), "PULSAR_CHECKPOINT_STORE_PATH")
  }

  test("more than the limit is refused before it is written") {
    val root = store()
    val fs   = FileSystem.newInstance(root.toUri, conf("pulsar-fs.maxBytes" -> "1m"))
    val half = new Array[Byte](600 << 10)
    Using.resource(fs.create(new Path(root, "a")))(_.write(half))
    assertEquals(named(Using.resource(fs.create(new Path(root, "b")))(_.write(half))), "PULSAR_CHECKPOINT_STORE_FULL")
    assertEquals(named(fs.create(new Path(root, "c")).write(half ++ half)), "PULSAR_CHECKPOINT_STORE_FULL")
    assertEquals(fs.listStatus(root).map(_.getPath.getName).toSeq, Seq("a"))
  }

  test("settings are checked by their names, and no text has a secret") {
    def opening(more: (String, String)*) = FileSystem.newInstance(URI.create("pulsar-fs://public/"), conf(more: _*))
    assertEquals(named(opening("pulsar-fs.servic.url" -> "x")), "PULSAR_OPTION_UNKNOWN")
    assertEquals(named(opening("pulsar-fs.topic" -> "x")), "PULSAR_OPTION_WRONG_MODE")
    assertEquals(named(opening("pulsar-fs.maxBytes" -> "x")), "PULSAR_OPTION_INVALID")
    assertEquals(named(FileSystem.newInstance(URI.create("pulsar-fs://public/"), new Configuration(false))),
      "PULSAR_OPTION_MISSING")
    val settings = StoreSettings(conf("pulsar-fs.auth.token" -> "geheim"))
    assert(!settings.toString.contains("geheim") && settings.client.authentication.toString.contains("***"))
  }

  test("a topic with messages of others") {
    val root = store()
    val name = CheckpointTopicNames.Prefix + root.getName
    Using.resource(PulsarConnection(client()))(connection =>
      connection.control(topic(name)).producer(ControlAccess.Shared).append(
        "x"
      )
    )
    val fs = FileSystem.newInstance(root.toUri, conf("pulsar-fs.operationTimeoutMs" -> "3000"))
    assertEquals(named(fs.exists(new Path(root, "f"))), "PULSAR_CHECKPOINT_STORE_CORRUPT")
  }

  test("a topic that is deleted under a store is noticed by who uses it, and by who opens it again") {
    val root = store()
    val name = CheckpointTopicNames.Prefix + root.getName
    val fs   = FileSystem.newInstance(root.toUri, conf("pulsar-fs.operationTimeoutMs" -> "5000"))
    write(fs, new Path(root, "f"), "x")
    cluster.remove(cluster.topic(topic(name)))
    store(name)
    assertEquals(named(write(fs, new Path(root, "g"), "x")), "PULSAR_CHECKPOINT_STORE_REPLACED")
    assertEquals(named(fs.exists(new Path(root, "f"))), "PULSAR_CHECKPOINT_STORE_REPLACED")
    assert(!fs.exists(new Path(root, "f")), "the next start has the new one")
  }

  test("a topic that moves, so that its broker does not know the reader for a moment") {
    val root = store()
    val fs   = fileSystem(root)
    write(fs, new Path(root, "f"), "x")
    cluster.writes.strangers.set(2)
    assertEquals(fs.listStatus(root).map(_.getPath.getName).toSeq, Seq("f"))
    assertEquals(cluster.writes.strangers.get, 0, "the broker was not asked")
  }

  test("a log without its beginning is no empty store") {
    val root   = store()
    val record = LogRecord(UUID.randomUUID, 1, 0, Change.MakeFolder(Seq("d")))
    append(root, RecordFormat.bytes(record))
    assertEquals(named(fileSystem(root).exists(root)), "PULSAR_CHECKPOINT_STORE_CUT")
  }

  test("a log that was emptied is no empty store, also where the broker does not name a last record") {
    val root   = store()
    val name   = topic(CheckpointTopicNames.Prefix + root.getName)
    val before = fileSystem(root)
    write(before, new Path(root, "f"), "x")
    val log = cluster.topic(name)
    cluster.writes.subscriptions((name, JournalTopic.Subscription)) = log.lastConfirmed
    cluster.add(log.copy(ledgers =
      log.ledgers.map(l => l.copy(entries = l.entries.map(_.copy(kind = TopicEntry.Marker))))
    ))
    val next = FileSystem.newInstance(root.toUri, conf("pulsar-fs.snapshotAfterRecords" -> "11"))
    assertEquals(named(next.exists(root)), "PULSAR_CHECKPOINT_STORE_CUT")
  }

  test("a broker that is gone: no wait is without an end") {
    val gone = new ScriptedCluster
    val name = CheckpointTopicNames.Prefix + "gone"
    gone.add(StoredTopic(topic(name), Vector(TopicLedger(1, Vector.empty))))
    val settings = Seq("pulsar-fs.service.url" -> gone.serviceUrl, "pulsar-fs.operationTimeoutMs" -> "2000")
    val root     = new Path("pulsar-fs://public/default/gone")
    val fs       = FileSystem.newInstance(root.toUri, conf(settings: _*))
    write(fs, new Path(root, "f"), "x")
    gone.close()
    assertEquals(read(fs, new Path(root, "f")), "x")
    val late = Set("PULSAR_CHECKPOINT_STORE_TIMEOUT", "PULSAR_UNREACHABLE")
    assert(late(named(write(fs, new Path(root, "f"), "y", overwrite = true))))
    assert(late(named(fs.exists(new Path(root, "none")))))
  }
}
