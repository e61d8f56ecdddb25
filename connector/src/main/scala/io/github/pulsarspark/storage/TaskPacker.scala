package io.github.pulsarspark.storage

import scala.annotation.tailrec

import io.github.pulsarspark.format.Tier
import io.github.pulsarspark.position.{OffsetRange, Position}
import io.github.pulsarspark.storage.segment.{Segment, Slice}

/** Divides slices into tasks of about one size. Pure. */
private[storage] object TaskPacker {

  /** Bytes that one task reads, as Spark divides files: enough tasks for the cluster, all of one size, none larger than
    * `most`, none very small unless `minTasks` requires it. There are never more than [[MaxTasks]], because each costs
    * the driver memory and time.
    */
  def taskBytes(total: Long, most: Long, minTasks: Option[Int], parallelism: Int): Long = {
    val shared = minTasks match {
      case Some(least) => ceilDiv(total, least.toLong)
      case None        => math.max(SmallestTask, ceilDiv(total, parallelism.toLong))
    }
    val tasks = math.max(1L, ceilDiv(total, math.max(1L, math.min(most, shared))))
    math.max(1L, ceilDiv(total, math.min(tasks, MaxTasks)))
  }

  /** True if a segment is divided into several pieces of about `bytes`. */
  def isCut(segment: Segment, bytes: Long): Boolean = segment.bytes > bytes && segment.last > segment.first

  /** The slices of each task, in order. A task reads `bytes` of neighbours, or an entry more. They are cut where a task
    * is full. A slice that the broker reads is a task by itself.
    *
    * @param starts
    *   preferred split points of a segment, in order; empty = split anywhere. They count for offloaded ledgers, which
    *   are read in blocks. An offloaded ledger that is not larger than a task is not cut.
    */
  def tasks(slices: Seq[Slice], bytes: Long, starts: Segment => Seq[Long] = _ => Nil): Seq[Seq[Slice]] =
    slices.foldLeft(Packing(bytes, Vector.empty, Vector.empty, bytes)) { (packing, slice) =>
      slice.segment match {
        case None                                                    => packing.alone(Seq(slice))
        case Some(segment) if segment.location.level == Tier.Bookies => packing.fill(slice)
        case Some(segment) if !isCut(segment, bytes)                 => packing.whole(Seq(slice))
        case Some(segment)                                           =>
          val inside = starts(segment).filter(e => e > segment.first && e <= segment.last)
          if (inside.isEmpty) packing.fill(slice)
          else
            cut(slice, segment, spaced(segment, inside, entriesIn(bytes, segment))).foldLeft(packing)((p, piece) =>
              p.whole(Seq(piece))
            )
      }
    }.all

  /** The slices of each task, in order, where one task reads all of a topic partition. Small partitions share tasks, as
    * far as the broker reads nothing of them: it would deliver one after the other.
    *
    * @param slices
    *   those of a topic partition are neighbours, in order
    */
  def inOrder(slices: Seq[Slice], bytes: Long): Seq[Seq[Slice]] =
    ofEach(slices).foldLeft(Packing(bytes, Vector.empty, Vector.empty, bytes)) { (packing, partition) =>
      if (partition.exists(_.segment.isEmpty)) packing.alone(partition) else packing.whole(partition)
    }.all

  private def ofEach(slices: Seq[Slice]): Seq[Seq[Slice]] = slices.foldLeft(Vector.empty[Vector[Slice]]) {
    case (before :+ last, slice) if last.head.topic == slice.topic => before :+ (last :+ slice)
    case (all, slice)                                              => all :+ Vector(slice)
  }

  /** Tasks while they are filled.
    *
    * @param bytes
    *   of a task
    * @param open
    *   the slices of the last task
    * @param room
    *   bytes left in it
    */
  private final case class Packing(bytes: Long, done: Vector[Vector[Slice]], open: Vector[Slice], room: Long) {

    def all: Vector[Vector[Slice]] = if (open.isEmpty) done else done :+ open

    def alone(slices: Seq[Slice]): Packing = Packing(bytes, all :+ slices.toVector, Vector.empty, bytes)

    def whole(slices: Seq[Slice]): Packing =
      slices.foldLeft(if (slices.map(_.bytes).sum <= room || open.isEmpty) this else next(0))(_.put(_))

    /** Cuts the slice where a task is full. */
    @tailrec
    def fill(slice: Slice): Packing = slice.segment match {
      case Some(segment) if segment.bytes > room && (open.nonEmpty || segment.last > segment.first) =>
        val entries = math.max(entriesIn(room, segment), if (open.isEmpty) 1L else 0L)
        if (entries <= 0) next(room).fill(slice)
        else {
          val pieces = cut(slice, segment, Seq(segment.first + entries))
          val full   = put(pieces.head)
          full.next(full.room).fill(pieces.last)
        }
      case _ => put(slice)
    }

    /** @param left bytes that the full task has no entry for: the next one gets them, or a task would be left over */
    private def next(left: Long): Packing = Packing(bytes, all, Vector.empty, bytes + math.max(0L, left))

    private def put(slice: Slice): Packing = copy(open = open :+ slice, room = room - slice.bytes)
  }

  /** Number of entries of a segment in this many bytes, by their average size. */
  private def entriesIn(bytes: Long, segment: Segment): Long =
    (BigInt(bytes) * (segment.last - segment.first + 1) / math.max(1L, segment.bytes)).toLong

  /** Chooses as few starts as possible so that each piece has at most `most` entries, unless two starts are further
    * apart.
    */
  private def spaced(segment: Segment, starts: Seq[Long], most: Long): Seq[Long] =
    starts.zip(starts.drop(1) :+ (segment.last + 1)).foldLeft((Vector.empty[Long], segment.first)) {
      case ((chosen, begin), (start, next)) =>
        if (next - begin > most) (chosen :+ start, start) else (chosen, begin)
    }._1

  /** Cuts a slice before each of these entries of its segment. */
  private def cut(slice: Slice, segment: Segment, starts: Seq[Long]): Seq[Slice] = {
    def bytesTo(entry: Long) =
      (BigInt(segment.bytes) * (entry - segment.first) / (segment.last - segment.first + 1)).toLong
    (segment.first +: starts).zip(starts.map(_ - 1) :+ segment.last).map { case (first, last) =>
      val range = OffsetRange(
        slice.topic,
        if (first == segment.first) slice.range.startExclusive else Position(segment.ledgerId, first - 1),
        if (last == segment.last) slice.range.endInclusive else Position(segment.ledgerId, last)
      )
      Slice.Direct(range, segment.location, bytesTo(last + 1) - bytesTo(first))
    }
  }

  private def ceilDiv(a: Long, b: Long): Long = (a + b - 1) / b

  private val SmallestTask = 4L * 1024 * 1024

  /** Limit of `minPartitions`. */
  private val MaxTasks = 100000L
}
