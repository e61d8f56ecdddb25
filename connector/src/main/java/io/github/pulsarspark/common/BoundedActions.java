package io.github.pulsarspark.common;

import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/**
 * Runs actions that do not wait, a limited number at a time, in the order of their requests. An action that does not
 * end in time makes room for others. For any thread.
 */
public final class BoundedActions {

    private final int atOnce;
    private final long patienceMillis;
    private final Executor executor;
    private final Queue<Runnable> waiting = new ArrayDeque<>();
    private int running;

    /**
     * @param patienceMillis the time after which another action runs in the place of one that does not end
     * @param executor runs the actions that had to wait
     */
    public BoundedActions(int atOnce, long patienceMillis, Executor executor) {
        this.atOnce = atOnce;
        this.patienceMillis = patienceMillis;
        this.executor = executor;
    }

    /** Runs the action at once or when it is its turn; the result is that of the action. */
    public CompletableFuture<Void> run(Supplier<CompletableFuture<Void>> action) {
        CompletableFuture<Void> result = new CompletableFuture<>();
        Runnable turn = () -> start(action, result);
        synchronized (this) {
            if (running >= atOnce) {
                waiting.add(turn);
                return result;
            }
            running++;
        }
        turn.run();
        return result;
    }

    private void start(Supplier<CompletableFuture<Void>> action, CompletableFuture<Void> result) {
        CompletableFuture<Void> done;
        try {
            done = action.get();
        } catch (RuntimeException failure) {
            done = CompletableFuture.failedFuture(failure);
        }
        done.whenComplete((ignored, failure) -> {
            if (failure == null) {
                result.complete(null);
            } else {
                result.completeExceptionally(failure);
            }
        });
        done.copy().orTimeout(patienceMillis, TimeUnit.MILLISECONDS).whenComplete((ignored, failure) -> next());
    }

    private void next() {
        Runnable turn;
        synchronized (this) {
            turn = waiting.poll();
            if (turn == null) {
                running--;
                return;
            }
        }
        executor.execute(turn);
    }
}
