package io.github.pulsarspark.checkpoint.log

import java.io.{ByteArrayInputStream, ByteArrayOutputStream, DataInputStream, DataOutputStream}
import java.nio.charset.StandardCharsets.UTF_8
import java.util.UUID

import io.github.pulsarspark.position.Position

/** Writes the fields of records and snapshots, one after the other. */
private[log] final class FieldWriter {
  private val bytes = new ByteArrayOutputStream
  private val out   = new DataOutputStream(bytes)

  def byte(value: Int): Unit        = out.writeByte(value)
  def int(value: Int): Unit         = out.writeInt(value)
  def long(value: Long): Unit       = out.writeLong(value)
  def flag(value: Boolean): Unit    = out.writeBoolean(value)
  def content(value: Content): Unit = array(value.bytes)
  def text(value: String): Unit     = array(value.getBytes(UTF_8))

  def uuid(value: UUID): Unit = {
    long(value.getMostSignificantBits)
    long(value.getLeastSignificantBits)
  }

  def path(value: Seq[String]): Unit = several(value)(text)

  def place(value: Position): Unit = {
    long(value.ledgerId)
    long(value.entryId)
  }

  def file(value: FileContent): Unit = value match {
    case inLog: Content =>
      byte(0)
      content(inLog)
    case Apart(size, checksum, places, since) =>
      byte(1)
      long(size)
      long(checksum)
      several(places)(place)
      long(since)
  }

  def several[A](values: Iterable[A])(each: A => Unit): Unit = {
    int(values.size)
    values.foreach(each)
  }

  def result: Array[Byte] = bytes.toByteArray

  private def array(value: Array[Byte]): Unit = {
    int(value.length)
    out.write(value)
  }
}

/** Reads them in the same order. Fails for bytes that end early, and for sizes that cannot be. */
private[log] final class FieldReader(bytes: Array[Byte]) {
  private val in = new DataInputStream(new ByteArrayInputStream(bytes))

  def byte(): Int        = in.readByte().toInt
  def int(): Int         = in.readInt()
  def long(): Long       = in.readLong()
  def flag(): Boolean    = in.readBoolean()
  def content(): Content = new Content(array())
  def text(): String     = new String(array(), UTF_8)
  def uuid(): UUID       = new UUID(long(), long())

  def path(): Seq[String] = {
    val names = several(text())
    if (names.size > Tree.MaxLevels) throw new IllegalArgumentException(s"a path of ${names.size} names")
    names
  }

  def place(): Position = Position(long(), long())

  def file(): FileContent = byte() match {
    case 0     => content()
    case 1     => apart()
    case other => throw new IllegalArgumentException(s"a content of kind $other")
  }

  private def apart() = {
    val found = Apart(long(), long(), several(place()), long())
    if (found.size < 0 || found.places.isEmpty) throw new IllegalArgumentException(s"a content at $found")
    found
  }

  def several[A](each: => A): Vector[A] = Vector.fill(size())(each)

  private def array(): Array[Byte] = {
    val value = new Array[Byte](size())
    in.readFully(value)
    value
  }

  /** A number of bytes or of values, each of which has a byte at least. */
  private def size(): Int = {
    val value = int()
    if (value < 0 || value > in.available) throw new IllegalArgumentException(s"a size of $value")
    value
  }
}
