package io.github.pulsarspark.storage

import java.nio.file.{Files, NoSuchFileException, Path}
import java.util.concurrent.locks.LockSupport

import scala.annotation.tailrec
import scala.concurrent.duration._
import scala.jdk.CollectionConverters._
import scala.util.control.NonFatal
import scala.util.{Random, Using}

import io.github.pulsarspark.TestSeed

/** Tasks that are killed at any moment, and what this process has open afterwards. */
object KilledTasks {

  /** Number of tasks that a test kills; `PULSAR_SPARK_TEST_ROUNDS` in the environment. */
  val rounds: Int = sys.env.get("PULSAR_SPARK_TEST_ROUNDS").fold(200)(_.toInt)

  /** `PULSAR_SPARK_TEST_SEED` in the environment, else a new one. */
  def dice(): Random =
    new Random(TestSeed.next())

  /** Kills [[rounds]] tasks, and then more, each of which lives longer, until `isEnough`: a busy machine may not let a
    * task begin within a few milliseconds.
    */
  def killAll(random: Random, isEnough: => Boolean = true)(task: => Unit): Unit = {
    val deadline = 2.minutes.fromNow
    Iterator.from(0).takeWhile(n => n < rounds || !isEnough).foreach { n =>
      if (n >= rounds && deadline.isOverdue()) throw new AssertionError(s"$n killed tasks were not enough")
      kill(random, 3.millis * (1L + n / rounds))(task)
    }
  }

  /** Runs a task in a thread of its own and interrupts it within `most`, as Spark does: some before, some while it
    * closes what it opened.
    */
  private def kill(random: Random, most: FiniteDuration)(task: => Unit): Unit = {
    val thread = new Thread(() =>
      try task
      catch { case NonFatal(_) | _: InterruptedException => () }
    )
    thread.start()
    val moment = System.nanoTime() + random.nextLong(most.toNanos)
    while (System.nanoTime() < moment && thread.isAlive) Thread.onSpinWait()
    thread.interrupt()
    thread.join(60000)
    if (thread.isAlive) throw new AssertionError("the task does not end")
  }

  /** Files that this process has open, of some kind. */
  def filesOpen(kind: String => Boolean): Int = Using.resource(Files.list(Path.of("/proc/self/fd"))) { links =>
    links.iterator.asScala.count { link =>
      try kind(Files.readSymbolicLink(link).toString)
      catch { case _: NoSuchFileException => false }
    }
  }

  def threads(prefix: String): Seq[String] =
    Thread.getAllStackTraces.keySet.asScala.map(_.getName).filter(_.startsWith(prefix)).toSeq

  /** Waits until it holds, a minute at most. */
  def eventually(what: => String)(holds: => Boolean): Unit = {
    val deadline = 1.minute.fromNow
    @tailrec
    def look(): Unit = if (!holds) { // once each time: what held once may hold no more
      if (deadline.isOverdue()) throw new AssertionError(what)
      LockSupport.parkNanos(100000)
      look()
    }
    look()
  }
}
