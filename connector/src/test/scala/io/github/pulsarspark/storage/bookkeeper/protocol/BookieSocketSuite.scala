package io.github.pulsarspark.storage.bookkeeper.protocol

import java.io.DataInputStream
import java.net.{InetAddress, InetSocketAddress, ServerSocket, Socket}
import java.nio.ByteBuffer
import java.nio.channels.spi.SelectorProvider

import scala.concurrent.duration._
import scala.util.Using

import io.github.pulsarspark.UnitSuite

/** Requests and frames of [[BookieSocket]] over a real connection, whose other end is in the hands of the test. */
class BookieSocketSuite extends UnitSuite {

  private val Frame = 5 * 1024 * 1024 + 64 * 1024 // the largest one

  private def forever = System.nanoTime() + 1.hour.toNanos

  private def listening[A](test: ServerSocket => A): A =
    Using.resource(new ServerSocket(0, 1, InetAddress.getLoopbackAddress))(test)

  private def connect(port: Int) =
    BookieSocket.connect(new InetSocketAddress(InetAddress.getLoopbackAddress, port), SelectorProvider.provider)

  private def connected[A](test: (BookieSocket, Socket) => A): A = listening { server =>
    Using.resource(connect(server.getLocalPort)) { socket =>
      socket.startWaiting()
      Using.resource(server.accept())(test(socket, _))
    }
  }

  private def received(socket: BookieSocket, stall: FiniteDuration = 1.hour, until: Long = forever): Seq[Byte] = {
    val frame = socket.receive(stall, until)
    try {
      val bytes = new Array[Byte](frame.readableBytes)
      frame.readBytes(bytes)
      bytes.toSeq
    } finally { frame.release(); () }
  }

  /** Runs work of the other end beside that of a test. */
  private def beside[A](work: => Unit)(test: => A): A = {
    val thread = new Thread(() => work)
    thread.start()
    try test
    finally thread.join()
  }

  test("requests before there is a connection are kept, and come in their order") {
    listening { server =>
      // they fill the queue of the server, which takes no connection until they are closed
      val others = Seq.fill(8)(SelectorProvider.provider.openSocketChannel())
      others.foreach { other => other.configureBlocking(false); other.connect(server.getLocalSocketAddress) }
      Using.resource(connect(server.getLocalPort)) { socket =>
        socket.startWaiting()
        val requests = (0 until 100).map(n => ByteBuffer.allocate(ReadRequest.MaxBytes).putInt(40, n).put(0, 1.toByte))
        requests.foreach(request => socket.send(_.put(request.array): Unit))
        others.foreach(_.close())
        beside {
          val bookie = Iterator.continually(server.accept()).find(_.getInputStream.read() == 1).get
          val rest   = new Array[Byte](requests.size * ReadRequest.MaxBytes - 1)
          new DataInputStream(bookie.getInputStream).readFully(rest)
          bookie.getOutputStream.write(ScriptedBookie.int(rest.length + 1) ++ (1.toByte +: rest))
        }(assertEquals(received(socket), requests.flatMap(_.array.toSeq)))
      }
    }
  }

  test("frames come one after the other, whole, however their bytes are cut") {
    connected { (socket, bookie) =>
      val frames = Seq(Seq[Byte](1, 2, 3), Nil, Seq.tabulate(100000)(_.toByte))
      beside {
        val bytes = frames.flatMap(f => ScriptedBookie.int(f.size) ++ f)
        bytes.grouped(33333).flatMap(part => Seq(part.take(2), part.drop(2))).foreach { part =>
          bookie.getOutputStream.write(part.toArray)
          bookie.getOutputStream.flush()
        }
      }(assertEquals(frames.map(_ => received(socket)), frames))
    }
  }

  private def failed(body: => Any): ReplicaFailed = intercept[ReplicaFailed](body)

  test("a bookie that is silent is slow: for as long as it may be, and not beyond the deadline") {
    connected { (socket, _) =>
      assert(failed(received(socket, stall = Duration.Zero)).isSlow)
      val late = failed(received(socket, until = System.nanoTime()))
      assert(late.isSlow && late.getMessage.contains("it did not answer within"), late.getMessage)
    }
  }

  test("the largest frame is taken; one that is larger is refused before its bytes, and is no sign of a slow bookie") {
    connected { (socket, bookie) =>
      beside {
        bookie.getOutputStream.write(ScriptedBookie.int(Frame) ++ new Array[Byte](Frame))
      }(assertEquals(received(socket).size, Frame))
    }
    for (size <- Seq(Frame + 1, Int.MaxValue, -1)) connected { (socket, bookie) =>
      bookie.getOutputStream.write(ScriptedBookie.int(size))
      val refused = failed(received(socket))
      assert(!refused.isSlow && refused.getMessage.contains(s"it announces $size bytes"), refused.getMessage)
    }
  }

  test("a connection that ends is told from one that never was") {
    connected { (socket, bookie) =>
      bookie.getOutputStream.write(Array[Byte](0, 0))
      bookie.close()
      intercept[ConnectionEnded](received(socket))
    }
    val port    = listening(_.getLocalPort)
    val refused = failed(Using.resource(connect(port)) { socket => socket.startWaiting(); received(socket) })
    assert(refused.isSlow, refused.getMessage)
  }
}
