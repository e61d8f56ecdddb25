package io.github.pulsarspark.checkpoint.log

import java.util.UUID

import io.github.pulsarspark.position.Position

/** A record of the log of a store.
  *
  * @param writer
  *   one producer of one JVM; another after each failure
  * @param number
  *   of the record among those of its writer, from 1 on; they stand in the log in this order. A record that the client
  *   sends again has the same
  * @param time
  *   by the writer's clock, milliseconds since 1970
  */
private[checkpoint] final case class LogRecord(writer: UUID, number: Long, time: Long, change: Change)

/** Change that a record asks for. The place of the record in the log decides whether it has an effect. */
private[checkpoint] sealed trait Change

private[checkpoint] object Change {

  /** The first record of a log. */
  final case class Created(store: UUID) extends Change

  /** Writes a file. A content apart from the log is stored before. */
  final case class Put(path: Seq[String], overwrite: Boolean, content: FileContent) extends Change

  /** Names another copy of a content that is apart from the log.
    *
    * @param from
    *   the places of the copy that the file has now; with others it stays as it is
    */
  final case class Copied(path: Seq[String], from: Seq[Position], to: Apart) extends Change

  final case class Delete(path: Seq[String], recursive: Boolean)                  extends Change
  final case class Rename(from: Seq[String], to: Seq[String], overwrite: Boolean) extends Change
  final case class MakeFolder(path: Seq[String])                                  extends Change

  /** The place in the log whose state a snapshot has: that after this record. From here on, no record can name contents
    * before those that files have now.
    */
  final case class SnapshotBegin(id: UUID) extends Change

  final case class SnapshotPart(id: UUID, index: Int, content: Content) extends Change

  /** The snapshot is complete.
    *
    * @param checksum
    *   CRC-32 of its parts together
    */
  final case class SnapshotEnd(id: UUID, parts: Int, checksum: Long) extends Change
}
